#include "runner/container/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "common/io/attempt/short_path.h"
#include "common/io/cgroups/attempt_cgroups.h"
#include "common/io/cgroups/pids_of_jobs.h"
#include "common/io/file_system.h"
#include "runner/container/arguments.h"

namespace lockstep::runner {
namespace {

constexpr std::size_t kLongestHostname = 64;
constexpr int kPidsOfSpawn = 16;
constexpr long long kLeastOfAll = 1024;  // the least for machines with few processes

bool is_or_is_below(const std::string& path, const std::string& folder) {
  return path == folder || path.starts_with(folder + "/");
}

// Homes of service accounts are in such places, and must not be hidden.
bool may_be_covered(const std::string& home) {
  if (home.size() < 2 || home[0] != '/') return false;
  constexpr const char* kSystem[] = {"/bin",   "/boot", "/dev",  "/etc",      "/lib",  "/lib32",
                                     "/lib64", "/opt",  "/proc", "/run",      "/sbin", "/sys",
                                     "/tmp",   "/usr",  "/var",  "/.lockstep"};
  return std::none_of(std::begin(kSystem), std::end(kSystem),
                      [&](const std::string& folder) { return is_or_is_below(home, folder); });
}

bool is_hostname(const std::string& name) {
  return !name.empty() && name.size() <= kLongestHostname &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '.'; });
}

std::string name_of(const PlanRequest& request) {
  const io::CgroupName name =
      io::cgroup_name(to_string(request.assignment.attempt), request.runner_pid);
  return fmt::format("lockstep.{}{}{}", name.lead, request.assignment.node_rank, name.tail);
}

// The parent of attempts/ is the agent's home.
std::map<std::string, std::string> labels_of(const PlanRequest& request) {
  const std::string& attempt = request.directory.path();
  const auto parent = [](const std::string& path) { return path.substr(0, path.rfind('/')); };
  return {
      {"lockstep.home", parent(parent(attempt))},
      {"lockstep.job", request.assignment.attempt.job.value},
      {"lockstep.attempt", attempt.substr(attempt.rfind('/') + 1)},
      {"lockstep.node_rank", std::to_string(request.assignment.node_rank)},
  };
}

std::vector<Mount> mounts_of(const PlanRequest& request, const io::User& inside) {
  const io::AttemptDir& attempt = request.directory;
  std::vector<Mount> mounts = {
      {request.spawn_program, kSpawnInside, true},
      {attempt.container(), kRunInside, true},
      {attempt.hosts(), "/etc/hosts", true},
      {attempt.code(), directory_inside(request.workspace, attempt)},
      {attempt.tmp(), attempt.tmp()},
      {attempt.tmp(), io::AttemptDir(io::short_path_in_container(attempt)).tmp()},
  };
  for (const StagedInput& input : request.workspace.inputs)
    mounts.push_back({input.tree,
                      directory_inside(request.workspace, attempt) + "/" + input_folder(input.name),
                      true});
  if (io::exists(attempt.client_home())) {
    mounts.push_back({attempt.client_home(),
                      io::AttemptDir(io::short_path_in_container(attempt)).client_home()});
    if (request.bundle) mounts.push_back({*request.bundle, kBundleInside, true});
  }
  if (inside.uid != 0) mounts.push_back({attempt.home(), inside.home});
  return mounts;
}

// Lowers the limit of processes to the one in a job's docker_args. A job without any limit, which
// only an operator can allow, keeps that argument.
void lower_pids_limit(ContainerPlan& plan) {
  constexpr std::string_view kOption = "--pids-limit=";
  const bool is_lifted = std::atoll(Arguments(plan.arguments).last("pids-limit").c_str()) <= 0;
  std::vector<std::string> others;
  for (const std::string& word : plan.arguments) {
    if (!word.starts_with(kOption) || is_lifted) {
      others.push_back(word);
      continue;
    }
    const long long asked = std::atoll(word.c_str() + kOption.size());
    if (asked > 0) plan.pids_limit = static_cast<int>(std::min<long long>(plan.pids_limit, asked));
  }
  plan.arguments = std::move(others);
}

Error no_gpus(const PlanRequest& request) {
  const std::string& engine = request.workspace.activation->container->engine;
  return make_error(
      ErrorCode::unsupported,
      fmt::format("the job holds {} GPUs of this node, but {} passes none to containers here: set "
                  "up nvidia-container-toolkit and restart the agent, or ask for gpus: 0",
                  request.assignment.allotment.gpus.size(), engine));
}

}  // namespace

io::User seen_inside(const Container& container, const io::User& run_as) {
  io::User user = run_as;
  if (container.is_rootless && !container.is_podman) user = {"root", 0, 0, "/root", "", {}};
  user.shell = container.shell;
  if (user.uid != 0 && !may_be_covered(user.home)) user.home = "/home/" + user.name;
  return user;
}

std::string directory_inside(const WorkspacePlan& workspace, const io::AttemptDir& directory) {
  return workspace.mount_point.empty() ? directory.code() : workspace.mount_point;
}

bool has_own_gpus(const std::vector<std::string>& docker_args) {
  return !Arguments(docker_args).is_on("privileged");
}

Result<ContainerPlan> plan_container(const PlanRequest& request) {
  const Assignment& assignment = request.assignment;
  const ResourceRequest& resources = assignment.spec.resources;
  const Container& container = *request.workspace.activation->container;
  if (!assignment.allotment.gpus.empty() && container.gpus.empty()) return no_gpus(request);
  const io::User inside = seen_inside(container, request.run_as);
  ContainerPlan plan;
  plan.container = container;
  plan.name = name_of(request);
  plan.labels = labels_of(request);
  if (is_hostname(request.hostname)) plan.hostname = request.hostname;
  plan.uid = inside.uid;
  plan.gid = inside.gid;
  for (const std::uint32_t group : inside.groups)
    if (group != inside.gid) plan.groups.push_back(group);
  plan.mounts = mounts_of(request, inside);
  plan.directory = directory_inside(request.workspace, request.directory);
  plan.shm_size = resources.shm_size.value_or(kDefaultShmSize);
  if (resources.memory && assignment.allotment.memory.count > 0 && container.limits_memory)
    plan.memory = assignment.allotment.memory;
  plan.cpus = std::max(1, static_cast<int>(assignment.allotment.cpus.size()));
  plan.gpus = assignment.allotment.gpus;
  if (assignment.nodes() > 1 || resources.rdma != Rdma::off) plan.devices = request.rdma_devices;
  const Arguments arguments(resources.docker_args);
  plan.arguments = arguments.without_variables();
  plan.variables = arguments.variables();
  plan.pids_limit =
      static_cast<int>(std::min(1LL * request.pids_limit * assignment.ranks_here() + kPidsOfSpawn,
                                std::max(io::pids_of_jobs() / 2, kLeastOfAll)));
  lower_pids_limit(plan);
  if (!plan.variables.empty()) plan.variables_file = request.directory.container_env();
  plan.socket = kSocketName;
  return plan;
}

std::vector<std::string> folders_in_home(const ContainerPlan& plan, const std::string& home) {
  const auto at_home = std::find_if(plan.mounts.begin(), plan.mounts.end(),
                                    [&](const Mount& mount) { return mount.source == home; });
  std::vector<std::string> folders;
  if (at_home == plan.mounts.end()) return folders;
  const std::string lead = at_home->target + "/";
  for (const Mount& mount : plan.mounts) {
    if (!mount.target.starts_with(lead)) continue;
    const std::string below = mount.target.substr(lead.size());
    for (std::size_t slash = below.find('/'); slash != below.npos;
         slash = below.find('/', slash + 1))
      folders.push_back(below.substr(0, slash));
    folders.push_back(below);
  }
  return folders;
}

}  // namespace lockstep::runner
