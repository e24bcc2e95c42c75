#include "envs/docker/conda_image.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

#include "common/io/disk.h"
#include "common/io/file_system.h"
#include "common/io/process.h"
#include "envs/conda/conda_backend.h"
#include "envs/conda/pack.h"
#include "envs/docker/scratch.h"
#include "envs/env_process.h"

namespace lockstep::envs {
namespace {

constexpr std::string_view kGlibc = "__glibc=";

// conda's name of the platform, with the C library of the image instead of the nodes'.
std::string platform_in(const Site& site, const std::string& glibc) {
  utsname kernel{};
  ::uname(&kernel);
  const std::string_view machine = kernel.machine;
  auto packages = conda_platform_of(site.platform).virtual_packages;
  std::erase_if(packages, [](const std::string& one) { return one.starts_with(kGlibc); });
  packages.push_back(fmt::format("{}{}", kGlibc, glibc));
  std::sort(packages.begin(), packages.end());
  return fmt::format("linux-{} {}", machine == "x86_64" ? "64" : machine, fmt::join(packages, " "));
}

// The path as an element of a JSON list in a Dockerfile, where engines replace variables.
std::string escaped(const std::string& path) {
  std::string out;
  for (const char c : path) {
    if (c == '"' || c == '\\' || c == '$') out += '\\';
    out += c;
  }
  return out;
}

// The variables for the user's tools: without the engine's, and with a home of their own.
std::map<std::string, std::string> variables_for(const Toolbox& tools, const io::User& user,
                                                 const Site& site) {
  auto variables = tool_environment(tools.variables(), user, site.image.scratch);
  std::erase_if(variables, [](const auto& one) { return is_engine_variable(one.first); });
  return variables;
}

// Solves, installs and packs in a lockstep-env of the job's user.
Result<Event> pack_as_user(Toolbox& tools, const Site& site, const CondaEnvironment& definition,
                           const std::string& glibc) {
  TRY_ASSIGN(const io::User user,
             site.image.user.empty() ? io::current_user() : io::find_user(site.image.user));
  EnvironmentOrder order{site.image.program, user, variables_for(tools, user, site), {}};
  order.order = {Order::What::pack, definition, {}, site};
  order.order.site.platform = platform_in(site, glibc);
  order.order.site.image = {};
  order.cgroup_procs = site.image.cgroup_procs;
  order.lock = ::fcntl(kLockFd, F_GETFD) < 0 ? -1 : kLockFd;
  order.on_log = [](std::string_view bytes) { static_cast<void>(io::write_all(1, bytes)); };
  order.on_progress = [&](const std::string& text) { tools.report(text); };
  order.go_on = [&] { return tools.go_on().has_value(); };
  auto said = run_lockstep_env(order);
  tools.end_all();
  if (said && (!said->lock || !said->activation))
    return make_error(ErrorCode::internal, "lockstep-env packed nothing");
  return said;
}

// Moves the archive into a folder of the agent, where its user can replace nothing. The archive
// must be the user's own file; its contents are the user's, as in a layer of any image.
Status take_archive(const Site& site, const io::User& user, const std::string& context) {
  const std::string from = fmt::format("{}/{}", site.image.scratch, kPackedFile);
  const std::string to = fmt::format("{}/{}", context, kPackedFile);
  TRY(io::make_directories(context, 0700));
  if (io::disk::rename(from.c_str(), to.c_str()) != 0)
    return errno_error(errno, fmt::format("cannot move {} to {}", from, to));
  struct stat info {};
  if (::lstat(to.c_str(), &info) != 0) return errno_error(errno, "cannot stat " + to);
  if (S_ISREG(info.st_mode) && info.st_nlink == 1 && info.st_uid == user.uid) return {};
  return make_error(ErrorCode::permission_denied,
                    fmt::format("{} is not a file of user {} alone: a program that ran while the "
                                "packages were installed has replaced it",
                                from, user.name));
}

Status copy_into_image(Toolbox& tools, const ContainerEngine& engine, const Site& site,
                       Lock& lock) {
  TRY_ASSIGN(const io::User user,
             site.image.user.empty() ? io::current_user() : io::find_user(site.image.user));
  TRY_ASSIGN(const std::string scratch, scratch_of(tools));
  const std::string context = scratch + "/packages";
  TRY(take_archive(site, user, context));
  const std::string dockerfile = scratch + "/Dockerfile";
  const std::string text =
      fmt::format("FROM {}\nADD [\"{}\", \"{}/\"]\nLABEL lockstep.environment=conda\n",
                  site.image.tag, kPackedFile, escaped(site.prefix));
  TRY(io::write_file_atomically(dockerfile, text, 0644, false));
  TRY_ASSIGN(lock.image->id,
             engine.build({context, dockerfile, site.image.tag, scratch, site.is_rebuild}));
  lock.image->digest.clear();
  return {};
}

}  // namespace

Status add_conda(Toolbox& tools, const ContainerEngine& engine, const Site& site,
                 const CondaEnvironment& definition, const std::string& glibc, Lock& lock) {
  if (glibc.empty())
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("the image {} has no glibc, for which conda packages are made (it is based on "
                    "busybox or musl): choose one of Debian, Ubuntu, Fedora, …",
                    lock.image->name));
  TRY_ASSIGN(Event packed, pack_as_user(tools, site, definition, glibc));
  lock.packages = std::move(packed.lock->packages);
  lock.conda = std::move(packed.lock->conda);
  lock.solver += ", " + packed.lock->solver;
  Activation& activation = *packed.activation;
  lock.image->interpreter = activation.interpreter;
  lock.image->version = activation.version;
  lock.image->path = activation.path;
  lock.image->variables = std::move(activation.variables);
  return copy_into_image(tools, engine, site, lock);
}

}  // namespace lockstep::envs
