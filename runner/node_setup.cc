#include "runner/node_setup.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/domain/why/ranks/notes.h"
#include "common/domain/why/ranks/rdma.h"
#include "common/io/attempt/short_path.h"
#include "common/io/beneath.h"
#include "common/io/cgroups/attempt_cgroups.h"
#include "common/io/file_system.h"
#include "common/io/files/open_place.h"
#include "common/wire/runners/runner_codec.h"
#include "runner/container/infiniband.h"

namespace lockstep::runner {
namespace {

Result<io::User> find_run_as(const std::string& name) {
  TRY_ASSIGN(io::User me, io::current_user());
  if (name.empty() || name == me.name) return me;
  TRY_ASSIGN(io::User other, io::find_user(name));
  if (me.uid != 0 && other.uid != me.uid)
    return make_error(ErrorCode::permission_denied,
                      fmt::format("this node's agent runs as {} and cannot start ranks as {}; run "
                                  "the agent as root, or submit with run_as {}",
                                  me.name, name, me.name));
  return other;
}

Status make_tmp(const io::AttemptDir& directory, const io::User& owner) {
  TRY_ASSIGN(const io::Folder attempt, io::Folder::open(directory.path()));
  const std::string name = directory.tmp().substr(directory.path().size() + 1);
  TRY(attempt.make_for(name, {owner.uid, owner.gid}, 0755));
  return {};
}

io::CgroupRequest cgroup_request(const io::AttemptDir& directory, const Assignment& assignment,
                                 const NodeLimits& limits) {
  io::CgroupRequest request;
  const io::CgroupName name = io::cgroup_name(to_string(assignment.attempt), getpid());
  request.name = fmt::format("{}{}{}", name.lead, assignment.node_rank, name.tail);
  request.ranks = assignment.ranks_here();
  if (assignment.spec.resources.memory) request.memory = assignment.allotment.memory;
  if (request.memory && request.memory->count == 0) request.memory.reset();
  request.cpus = static_cast<int>(assignment.allotment.cpus.size());
  request.record = directory.cgroups();
  request.pids_limit = limits.limits.pids;
  request.nursery = limits.nursery;
  return request;
}

// The plan on the host. For a container, the engine mounts at the common path, so nothing is
// mounted there on the host.
WorkspacePlan plan_on_host(const Orders& orders) {
  WorkspacePlan plan = orders.workspace;
  if (orders.container() != nullptr) plan.mount_point.clear();
  return plan;
}

// The engine gets descriptors that the runner holds until the engine has ended: a path could be
// changed to lead elsewhere.
Status mount_placed(const Orders& orders, NodeSetup& setup, ContainerPlan& plan) {
  for (const PlacedInput& input : orders.workspace.placed) {
    const std::string folder = setup.directory + "/" + input_folder(input.name);
    auto opened = io::open_place(input.place, setup.run_as, input.is_writable);
    if (!opened) return opened.error().within(fmt::format("input '{}'", input.name));
    plan.mounts.push_back({fmt::format("/proc/{}/fd/{}", getpid(), opened->fd.get()),
                           input.file.empty() ? folder : folder + "/" + input.file,
                           !input.is_writable});
    setup.placed.push_back(std::move(opened->fd));
  }
  return {};
}

Result<std::unique_ptr<pmix::Client>> start_pmix(io::EventLoop& loop, const io::User& run_as) {
  TRY_ASSIGN(const std::string program, io::find_program("lockstep-pmix"));
  return pmix::Client::launch(loop, program, run_as.uid, run_as.gid);
}

// The RDMA devices for a container. A rootless engine passes only devices that its user may open.
std::vector<std::string> rdma_devices_for(const Container& container) {
  std::vector<std::string> devices = infiniband_devices();
  return container.is_rootless ? ours_of(devices) : devices;
}

// Notes limits of RDMA. Without this note, it would fail in the ranks with an error that names
// neither the engine nor the limit.
void note_rdma_limits(const Orders& orders, const std::vector<std::string>& devices,
                      std::vector<Why>& notes) {
  const ResourceRequest& resources = orders.assignment.spec.resources;
  if (resources.rdma == Rdma::off || orders.assignment.nodes() == 1) return;
  const Container& container = *orders.container();
  if (devices.empty() && !infiniband_devices().empty())
    notes.emplace_back(ContainerLacksRdma{container.engine});
  if (!devices.empty() && !container.memlock_is_unlimited)
    notes.emplace_back(ContainerLocksLittle{container.engine, container.is_rootless});
}

Status start_container(io::EventLoop& loop, const io::AttemptDir& directory, const Orders& orders,
                       const std::string& spawn, const Limits& limits,
                       ContainerProcess::Events events, NodeSetup* setup) {
  setup->isolation.kind = "container";
  setup->directory = directory_inside(orders.workspace, directory);
  setup->attempt_directory = io::short_path_in_container(directory);
  if (orders.assignment.spec.resources.memory && !orders.container()->limits_memory)
    setup->isolation.for_job.emplace_back(
        MemoryIsNotLimited{*orders.assignment.spec.resources.memory,
                           EngineLimitsNoMemory{orders.container()->engine}});
  if (Why why = forbidden(orders.assignment.spec.limits, setup->isolation.for_job)) {
    setup->error = SetupError{Cause::start_failed, std::move(why)};
    return {};
  }
  const std::vector<std::string> devices = rdma_devices_for(*orders.container());
  note_rdma_limits(orders, devices, setup->isolation.for_job);
  TRY_ASSIGN(ContainerPlan plan, plan_container({directory, orders.assignment, orders.workspace,
                                                 setup->run_as, spawn, io::host_name(), getpid(),
                                                 limits.pids, io::bundle_directory(), devices}));
  TRY(mount_placed(orders, *setup, plan));
  TRY_ASSIGN(setup->container, ContainerProcess::start(loop, std::move(plan), directory,
                                                       setup->run_as, std::move(events)));
  return {};
}

// Moves the working directory to the path that all attempts of the job have, if there are no
// mounts. Two nodes of one machine cannot both use it.
void take_place(const io::AttemptDir& directory, const Orders& orders, NodeSetup* setup) {
  if (const Status linked = io::link_short_path(directory); linked)
    setup->attempt_directory = io::short_path(directory);
  else
    spdlog::warn("{}; the paths of the ranks are long", linked.error().message);
  const std::string& common = orders.workspace.mount_point;
  const std::string own = io::working_places(directory, orders.assignment.attempt.job).back();
  std::string why;
  for (const std::string& path : {common, own}) {
    auto place = io::WorkingPlace::take(directory, path);
    if (!place) {
      spdlog::warn("{}", place.error().message);
      why = why.empty() ? place.error().message : why;
      continue;
    }
    setup->directory = path;
    setup->place = *std::move(place);
    break;
  }
  if (setup->place && setup->directory == common) return;
  setup->isolation.for_job.emplace_back(FolderDiffers{setup->directory, !setup->place, why});
}

void set_error(NodeSetup* setup, Cause cause, const Error& error) {
  setup->error = SetupError{cause, told(error.message)};
}

void set_up_in_container(io::EventLoop& loop, const io::AttemptDir& directory, const Orders& orders,
                         const Workspace& workspace, const std::string& spawn, const Limits& limits,
                         spawn::Client::Events events, ContainerProcess::Events container_events,
                         NodeSetup* setup) {
  if (const Status made = workspace.use_in_place(); !made)
    return set_error(setup, Cause::workspace_failed, made.error());
  const Status started =
      start_container(loop, directory, orders, spawn, limits, std::move(container_events), setup);
  if (!started) return set_error(setup, Cause::start_failed, started.error());
  if (setup->error) return;
  setup->isolation.spawn = spawn::Client::expect(loop, std::move(events));
}

void set_up_on_host(io::EventLoop& loop, const io::AttemptDir& directory, const Orders& orders,
                    const Workspace& workspace, const std::string& spawn, const NodeLimits& limits,
                    spawn::Client::Events events, NodeSetup* setup) {
  const SharedMemory memory(orders.assignment, directory, setup->run_as);
  const IsolationRequest request{cgroup_request(directory, orders.assignment, limits), spawn,
                                 &workspace, orders.assignment.spec.limits, &memory};
  auto isolation = isolate(loop, request, std::move(events));
  const Cause cause = workspace.must_mount() ? Cause::workspace_failed : Cause::start_failed;
  if (!isolation) return set_error(setup, cause, isolation.error());
  if (isolation->refused) {
    setup->error = SetupError{cause, isolation->refused};
    return;
  }
  setup->isolation = *std::move(isolation);
  setup->directory = workspace.directory(setup->isolation.mounted);
  setup->attempt_directory = workspace.attempt_directory(setup->isolation.mounted);
  if (!setup->isolation.mounted && !orders.workspace.mount_point.empty())
    take_place(directory, orders, setup);
}

}  // namespace

Result<Orders> read_orders(const io::AttemptDir& directory) {
  Orders orders;
  TRY_ASSIGN(const std::string assignment, io::read_file(directory.assignment()));
  TRY_ASSIGN(orders.assignment, wire::decode_assignment(assignment));
  // Without the file ranks get fewer settings, but they can start.
  if (const auto bytes = io::read_file(directory.fabric()))
    if (auto fabric = wire::decode_node_fabric(*bytes)) orders.fabric = *std::move(fabric);
  if (!io::exists(directory.workspace())) return orders;
  TRY_ASSIGN(const std::string plan, io::read_file(directory.workspace()));
  TRY_ASSIGN(orders.workspace, wire::decode_workspace_plan(plan));
  return orders;
}

NodeSetup set_up_node(io::EventLoop& loop, const io::AttemptDir& directory, const Orders& orders,
                      const NodeLimits& limits, spawn::Client::Events events,
                      ContainerProcess::Events container_events) {
  NodeSetup setup;
  const auto fail = [&](Cause cause, const Error& error) {
    set_error(&setup, cause, error);
    return std::move(setup);
  };
  auto user = find_run_as(orders.assignment.spec.run_as);
  if (!user) return fail(Cause::start_failed, user.error());
  setup.run_as = *std::move(user);
  if (orders.assignment.spec.distribution.kind == Distribution::Kind::mpi) {
    auto started = start_pmix(loop, setup.run_as);
    if (!started) return fail(Cause::start_failed, started.error());
    setup.pmix = *std::move(started);
  }
  if (const auto made = io::make_directories(directory.logs()); !made)
    return fail(Cause::start_failed, made.error());
  if (const auto made = make_tmp(directory, setup.run_as); !made)
    return fail(Cause::start_failed, made.error());
  const auto workspace =
      Workspace::prepare(plan_on_host(orders), directory, setup.run_as.uid, setup.run_as.gid,
                         orders.assignment.spec.outputs, setup.run_as);
  if (!workspace) return fail(Cause::workspace_failed, workspace.error());
  const auto spawn = io::find_program("lockstep-spawn");
  if (!spawn) return fail(Cause::start_failed, spawn.error());
  if (orders.container() != nullptr)
    set_up_in_container(loop, directory, orders, *workspace, *spawn, limits.limits,
                        std::move(events), std::move(container_events), &setup);
  else
    set_up_on_host(loop, directory, orders, *workspace, *spawn, limits, std::move(events), &setup);
  return setup;
}

GangMember describe_self(const Assignment& assignment) {
  GangMember self;
  self.hostname = io::host_name();
  self.address = "127.0.0.1";  // a gang of one node needs no other address
  self.host_id = io::current_host_id();
  self.gpus = static_cast<int>(assignment.allotment.gpus.size());
  return self;
}

}  // namespace lockstep::runner
