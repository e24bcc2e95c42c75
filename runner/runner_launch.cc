// Starting ranks, from the order to the moment when lockstep-spawn has them. A bootstrap may take
// long for a rank, or hang: until it answers, the rank is pending, and the loop goes on.

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <utility>

#include "common/base/cut.h"
#include "common/domain/environment/container_places.h"
#include "common/domain/why/all/convert.h"
#include "common/domain/why/ranks/notes.h"
#include "common/domain/why/ranks/parts.h"
#include "common/domain/why/ranks/ranks.h"
#include "common/fabric/settings.h"
#include "common/io/file_system.h"
#include "common/io/process.h"
#include "runner/bootstrap/nccl_watch.h"
#include "runner/bootstrap/network_settings.h"
#include "runner/container/arguments.h"
#include "runner/runner.h"
#include "runner/steps/activate.h"
#include "runner/steps/binding.h"

namespace lockstep::runner {

static_assert(kRankConnectionFd == spawn::kConnectionFd);

// Starts a rank. Every order gets an answer.
void Runner::perform(const StartRank& action) {
  if (action.local_rank == 0 && master_port_ && master_port_->taken()) {
    refuse_starts(PortWasTaken{master_port_->port()});
    feed(MasterPortTaken{});
  }
  pending_[action.rank] = action;
  switch (launching_) {
    case Launching::not_begun: return begin_launching();
    case Launching::preparing: return;
    case Launching::ready: return prepare_start(action);
    case Launching::refused: return give_up_starts(refusal_);
  }
}

namespace {

// The folder where ranks find the command `lockstep`; "": none.
std::string client_folder(bool in_container) {
  if (in_container) return io::bundle_directory() ? std::string(kBundleInside) + "/bin" : "";
  const std::string folder = io::program_directory();
  return io::exists(folder + "/lockstep") ? folder : "";
}

}  // namespace

void Runner::begin_launching() {
  launching_ = Launching::preparing;
  if (!setup_.isolation.spawn || spawner_is_lost()) return refuse_starts(SpawnIsGone{});
  if (const Status described = describe_gang(); !described)
    return refuse_starts(told(described.error().message));
  watch_transport();
  const Assignment& assignment = orders_.assignment;
  if (const Status bound = bind_ranks_here(); !bound)
    return refuse_starts(told(bound.error().message));
  launch_.gang = gang_.get();
  launch_.directory = setup_.directory;
  launch_.inputs = input_values(assignment.spec.data, setup_.directory);
  launch_.outputs = output_paths(assignment.spec.outputs, setup_.directory);
  launch_.cgroups = setup_.isolation.cgroups ? &*setup_.isolation.cgroups : nullptr;
  launch_.container = orders_.container();
  if (io::exists(directory_.client_home())) {
    launch_.client_home = io::AttemptDir(setup_.attempt_directory).client_home();
    launch_.client_folder = client_folder(launch_.container != nullptr);
  }
  launch_.become_run_as = geteuid() == 0 && launch_.container == nullptr;
  open_to_attachments();
  bootstrap_ = make_bootstrap(*gang_, loop_, std::move(setup_.pmix), bootstrap_events());
  bootstrap_->begin([this](const Status& begun) { bootstrap_begun(begun); });
}

Status Runner::bind_ranks_here() {
  const Assignment& assignment = orders_.assignment;
  const std::vector<int> cpus = usable_cpus(assignment.allotment.cpus);
  gang_->oversubscribed = assignment.ranks_here() > static_cast<int>(cpus.size());
  if (gang_->oversubscribed)
    spdlog::warn(
        "oversubscribed: {} ranks share {} cpus; the ranks are not bound to cpus and yield while "
        "they wait",
        assignment.ranks_here(), cpus.size());
  TRY_ASSIGN(launch_.cpus, bind_ranks(assignment.spec.binding, cpus, assignment.ranks_here()));
  return {};
}

void Runner::bootstrap_begun(const Status& begun) {
  if (launching_ != Launching::preparing) return;
  if (!begun) return refuse_starts(told(begun.error().message));
  launching_ = Launching::ready;
  for (const GangMessage& message : std::exchange(early_, {})) bootstrap_->receive(message);
  const auto ordered = pending_;
  for (const auto& [rank, action] : ordered) prepare_start(action);
}

Status Runner::describe_gang() {
  const Assignment& assignment = orders_.assignment;
  gang_ = std::make_unique<GangContext>();
  gang_->assignment = assignment;
  gang_->assignment.gang = core_.gang();
  if (link_) gang_->radix = link_->radix();
  if (core_.probe() && !core_.probe()->chosen.empty()) gang_->probe = core_.probe();
  gang_->tmp_directory = directory_.tmp();
  gang_->tmp_of_ranks = io::AttemptDir(setup_.attempt_directory).tmp();
  gang_->run_as = setup_.run_as;
  gang_->fabric = orders_.fabric;
  for (const io::PortLease& lease : rank_ports_) gang_->rank_ports.push_back(lease.port());
  if (ras_port_) gang_->ras_port = ras_port_->port();
  gang_->nccl_dumps = nccl_dumps_below(setup_.directory);
  auto& variables = gang_->assignment.spec.environment_variables;
  const auto& activation = orders_.workspace.activation;
  if (const Container* container = orders_.container()) {
    const auto& docker_args = assignment.spec.resources.docker_args;
    gang_->container = {seen_inside(*container, setup_.run_as), has_own_gpus(docker_args)};
    variables.merge(Arguments(docker_args).variables());
    activate_image(*activation, gang_->rank_user().uid == 0, &variables);
    if (assignment.nodes() > 1) TRY(setup_.container->name_gang(gang_->gang()));
  } else if (activation) {
    activate(*activation, &variables);
  }
  gang_->network = network_of_ranks(*gang_);
  other_settings_ = differences(gang_->network);
  note_network();
  return {};
}

// Settings that look like mistakes are noted beside what this node cannot do.
void Runner::note_network() {
  constexpr std::size_t kMostNoteBytes = 400;
  constexpr std::size_t kMostVariables = 16;
  std::vector<Why>& notes = setup_.isolation.for_job;
  const auto note = [&](Why why) {
    if (notes.size() < kMaxNoteLines) notes.push_back(std::move(why));
  };
  const OperatorSettings& operators = orders_.assignment.operator_settings;
  if (!operators.trouble.empty()) note(told(cut(operators.trouble, kMostNoteBytes)));
  if (gang_->network.empty()) return;
  for (SettingIsMistaken& one : notes_of_mistakes(gang_->network.front())) {
    if (one.variables.size() > kMostVariables) one.variables.resize(kMostVariables);
    one.set_for = cut(one.set_for, kMostNoteBytes);
    one.said = cut(one.said, kMostNoteBytes);
    note(std::move(one));
  }
}

BootstrapEvents Runner::bootstrap_events() {
  return {
      [this](int rank) {
        if (node_watch_) node_watch_->rank_connected(rank);
        feed(RankConnected{rank});
      },
      [this](int rank) {
        if (node_watch_) node_watch_->rank_finalized(rank);
        feed(RankFinalized{rank});
      },
      [this](int rank, int code, std::string message) {
        feed(RankAborted{rank, code, std::move(message)});
      },
      [this](GangMessage message) { send_to_gang(message); },
      [this](const std::string& said) { bootstrap_lost(said); },
      [this](bool entered) {
        if (!node_watch_) return;
        entered ? node_watch_->fence_entered() : node_watch_->fence_over();
      },
  };
}

// Handles the loss of the bootstrap. When the remains of lockstep-spawn are swept away, it is
// killed too; the ranks have ended by then.
void Runner::bootstrap_lost(const std::string& said) {
  spdlog::error("{}", said);
  if (!spawner_is_lost()) feed(BootstrapLost{said});
}

void Runner::prepare_start(const StartRank& action) {
  bootstrap_->environment(action.rank, action.local_rank,
                          [this, action](Result<Bootstrap::RankVariables> variables) {
                            start_prepared(action, std::move(variables));
                          });
}

void Runner::start_prepared(const StartRank& action, Result<Bootstrap::RankVariables> variables) {
  if (pending_.erase(action.rank) == 0) return;  // the rank was given up meanwhile
  if (variables && (!setup_.isolation.spawn || spawner_is_lost()))
    return fail_start(action.rank, SpawnIsGone{});
  const Status started = variables ? start_rank(action, *std::move(variables)) : variables.error();
  if (!started) fail_start(action.rank, told(started.error().message));
}

Status Runner::start_rank(const StartRank& action, Bootstrap::RankVariables variables) {
  RankLaunch launch;
  launch.rank = action.rank;
  launch.local_rank = action.local_rank;
  launch.bootstrap = std::move(variables);
  TRY(prepare_launch(launch_, launch));
  if (action.local_rank == 0 && launch.process.program == "/bin/sh")
    spdlog::warn("there is no /bin/bash: the command runs under /bin/sh");
  TRY_ASSIGN(auto writers, logs_.open(action.rank, setup_.run_as.uid));
  TRY_ASSIGN(const io::Fd null, io::open_file("/dev/null", O_RDONLY));
  const io::Fd connection = bootstrap_->connection(action.rank);
  const bool is_main = action.rank == 0 && orders_.assignment.spec.terminal != TerminalKind::none;
  TRY(is_main
          ? start_main(launch.process, std::move(writers), connection.get())
          : setup_.isolation.spawn->start(action.rank, launch.process, null.get(),
                                          writers.out.get(), writers.err.get(), connection.get()));
  note_rank(action.rank, std::move(launch.process));
  return {};
}

void Runner::refuse_starts(const Why& why) {
  launching_ = Launching::refused;
  refusal_ = why;
  give_up_starts(why);
}

void Runner::give_up_starts(const Why& why) {
  const auto given_up = std::exchange(pending_, {});
  for (const auto& [rank, action] : given_up) fail_start(rank, why);
}

void Runner::fail_start(int rank, const Why& why) {
  spdlog::error("rank {}: {}", rank, log_text(why));
  feed(RankStartFailed{rank, 125, why});
}

}  // namespace lockstep::runner
