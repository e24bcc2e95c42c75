#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "common/domain/why/all/convert.h"
#include "common/domain/why/ranks/notes.h"
#include "common/domain/why/ranks/parts.h"
#include "common/io/file_system.h"
#include "common/io/process.h"
#include "common/io/programs/kernel_log.h"
#include "runner/runner.h"
#include "runner/spawn/start_failure.h"
#include "runner/spawn/sweep.h"
#include "runner/steps/not_started.h"

namespace lockstep::runner {
namespace {

// The time within which lockstep-spawn reacts to a signal, unless it is frozen.
constexpr Duration kHearsWithin = seconds(1);
constexpr Duration kSweepEvery = milliseconds(5);
constexpr Duration kSweepTimeout = seconds(5);  // a process that the kernel holds may take longer

std::string program_of(const Command& command) {
  const auto* argv = std::get_if<Argv>(&command);
  return argv != nullptr && !argv->words.empty() ? argv->words[0] : "the shell";
}

}  // namespace

void Runner::rank_started(int rank, int pid) {
  spdlog::info("rank {} started as pid {}", rank, pid);
  ranks_here_[rank].pid = pid;
  feed(RankStarted{rank, pid});
  begin_watch();
  if (node_watch_) node_watch_->rank_started(rank, pid);
  sampler_.started(clock_.now(), rank, pid);
  const auto& cgroups = setup_.isolation.cgroups;
  if (cgroups && cgroups->limited()) return look_at_memory_limit(rank, pid);
  if (!cgroups) return;
  joining_[rank] = pid;
  if (join_at_ == Instant::never()) join_at_ = clock_.now() + kJoinAfter;
}

void Runner::look_at_memory_limit(int rank, int pid) {
  std::vector<Why>& notes = setup_.isolation.for_job;
  const Assignment& assignment = orders_.assignment;
  const bool holds =
      setup_.isolation.cgroups->limits_memory_of(pid, rank - assignment.first_rank());
  if (holds || !notes.empty()) return;
  const auto who = io::identify(pid);
  if (!who || !io::is_alive(*who)) return;  // the rank has ended, and has left its cgroup
  notes.emplace_back(MemoryIsNotLimited{assignment.allotment.memory, RankIsOutsideCgroup{rank}});
  spdlog::warn("{}", log_text(notes.back()));
  if (const Why why = forbidden(assignment.spec.limits, notes))
    feed(SetupFailed{Cause::start_failed, why});
}

// Ranks that have ended by now need no cgroup.
void Runner::join_cgroups() {
  join_at_ = Instant::never();
  auto& cgroups = setup_.isolation.cgroups;
  if ((joining_.empty() && joining_beside_.empty()) || !cgroups || !setup_.isolation.spawn) return;
  if (const Status made = cgroups->make(); !made) {
    spdlog::warn("the ranks run without cgroups: {}", made.error().message);
    cgroups.reset();
    launch_.cgroups = nullptr;
    return;
  }
  if (!joiner_)
    joiner_ = std::make_unique<CgroupJoiner>(setup_.isolation.spawn->pid(),
                                             orders_.assignment.ranks_here(), pmix_pid_);
  for (const auto& [rank, pid] : std::exchange(joining_, {}))
    joiner_->join(pid, cgroups->procs_files(rank - orders_.assignment.first_rank()));
  join_attached();
  if (const std::string nursery = cgroups->nursery(); !nursery.empty())
    joiner_->empty(nursery, cgroups->shared_procs_files());
}

void Runner::join_attached() {
  for (const auto& [rank, pid] : std::exchange(joining_beside_, {}))
    joiner_->join(pid,
                  setup_.isolation.cgroups->procs_files(rank - orders_.assignment.first_rank()));
}

// Records the start for the agent, which reports it if this runner is killed before it has reported
// it.
void Runner::record_started() {
  const Instant started = core_.report().started;
  if (started == noted_start_) return;
  noted_start_ = started;
  const Status noted =
      io::write_file_atomically(directory_.started(), std::to_string(started.ns), 0644, false);
  if (!noted) spdlog::warn("{}", noted.error().message);
}

void Runner::rank_failed(int rank, int error, spawn::SpawnStage stage) {
  const int code = spawn::exit_code_of(error, stage);
  const Why why = start_failure_of(program_of(orders_.assignment.spec.command), error, stage);
  spdlog::error("rank {} did not start: {}", rank, log_text(why));
  ranks_here_[rank].lives = false;
  feed(RankStartFailed{rank, code, why});
}

bool Runner::was_out_of_memory(int rank) {
  if (setup_.container) return setup_.container->is_out_of_memory();
  const auto& cgroups = setup_.isolation.cgroups;
  return cgroups &&
         cgroups->killed_for_memory(rank - orders_.assignment.first_rank()) > killed_beside_[rank];
}

void Runner::rank_exited(int rank, int wait_status, const spawn::Spent& spent) {
  joining_.erase(rank);
  ranks_here_[rank].lives = false;
  if (attachments_) attachments_->rank_exited(rank, wait_status);
  if (cores_ && !spawner_is_lost()) cores_->exited_rank(rank, wait_status, clock_.now());
  if (node_watch_)
    node_watch_->rank_exited(
        rank, WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status));
  sampler_.exited(rank, spent.cpu_time, spent.largest);
  RankExited exited;
  exited.rank = rank;
  if (WIFSIGNALED(wait_status))
    exited.signal = WTERMSIG(wait_status);
  else
    exited.exit_code = WEXITSTATUS(wait_status);
  exited.oom = (exited.signal != 0 || exited.exit_code != 0) && was_out_of_memory(rank);
  if (exited.signal == SIGKILL && !exited.oom) {
    exited.killed_by_user = attachments_ && attachments_->has_killed(rank);
    exited.kernel = io::kernel_on_killed(ranks_here_[rank].pid);
  }
  spdlog::info("rank {} ended: exit code {}, signal {}{}", rank, exited.exit_code, exited.signal,
               exited.oom ? ", out of memory" : "");
  feed(exited);
}

// The agent keeps the newest sample, and sends it to the launcher with its own.
void Runner::sample_ranks() {
  const auto& cgroups = setup_.isolation.cgroups;
  RankSampler::Look look;
  look.spawn_pid = spawn_pid();
  if (cgroups && !setup_.container)
    look.cgroup = [&](int rank) {
      return cgroups->memory_directory(rank - orders_.assignment.first_rank());
    };
  for (const LogSize& size : logs_.sizes()) look.logged += size.stdout_bytes + size.stderr_bytes;
  PartUse use = sampler_.sample(clock_.now(), look);
  use.attempt = orders_.assignment.attempt;
  control_->tell(use);
}

void Runner::tell_totals() {
  for (RankExit& exit : final_report_->ranks) {
    const RankUse used = sampler_.used(exit.rank);
    exit.cpu_time = used.cpu_time;
    exit.peak_memory = used.peak_memory;
    exit.read = used.read;
    exit.written = used.written;
  }
}

void Runner::perform(const SignalRanks& action) {
  spdlog::info("signal {} to all ranks", action.signal);
  end_attachments();
  end_watch_here();
  end_watch();
  if (setup_.isolation.spawn) setup_.isolation.spawn->signal_all(action.signal);
  const bool is_first = action.signal != SIGKILL && unpause_at_ == Instant::never();
  if (is_first && setup_.container) unpause_at_ = clock_.now() + kHearsWithin;
}

void Runner::perform(const WarnRanks& action) {
  spdlog::info("signal {} to all ranks that handle it: the job's time is nearly over",
               action.signal);
  if (setup_.isolation.spawn) setup_.isolation.spawn->warn_all(action.signal);
}

void Runner::unpause() {
  unpause_at_ = Instant::never();
  if (setup_.container && setup_.container->is_connected() && !spawner_is_lost())
    setup_.container->unpause();
}

void Runner::perform(const KillEverything&) {
  end_attachments();
  end_watch_here();
  end_probe();
  if (waits_for_cores()) return;
  if (!setup_.isolation.spawn || spawner_is_lost()) return;
  if (spawner_ == Spawner::kills) {
    // A frozen lockstep-spawn answers nothing.
    if (setup_.container && !setup_.container->is_removing())
      setup_.container->remove([this] { frozen_removed(); });
    return;
  }
  // True: nothing was started in the container.
  if (setup_.container && !setup_.container->is_connected()) {
    setup_.container->give_up();
    spawner_ = Spawner::gone;
    return feed(SpawnLost{});
  }
  spawner_ = Spawner::kills;
  setup_.isolation.spawn->kill_all();
}

// Handles a removed container. If the engine did not end lockstep-spawn, it may still run out of
// reach. Its ranks are given up then, and the final report says what is left.
void Runner::frozen_removed() {
  if (spawner_ != Spawner::kills) return;
  spawner_ = Spawner::gone;
  if (cores_) cores_->give_up();
  if (attachments_) attachments_->spawn_lost();
  if (node_watch_) node_watch_->spawn_lost();
  feed(SpawnLost{SpawnEnd::container_removed});
}

// The ranks died with lockstep-spawn. Processes that they had forked are children of the runner
// now, or are in the cgroup.
void Runner::spawn_lost() {
  if (spawner_is_lost()) return;
  spdlog::error("lockstep-spawn is gone");
  if (cores_) cores_->give_up();
  if (attachments_) attachments_->spawn_lost();
  if (node_watch_) node_watch_->spawn_lost();
  if (setup_.container) return container_lost();
  spawner_ = Spawner::sweeping;
  sweep_until_ = clock_.now() + kSweepTimeout;
  sweep();
}

void Runner::sweep() {
  if (setup_.isolation.cgroups) setup_.isolation.cgroups->kill_all();
  spawn::kill_descendants();
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
  const bool is_empty = waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD;
  if (!is_empty && clock_.now() < sweep_until_) {
    sweep_at_ = clock_.now() + kSweepEvery;
    return;
  }
  sweep_at_ = Instant::never();
  spawner_ = Spawner::gone;
  feed(SpawnLost{});
}

// Handles the loss of a container. If lockstep-spawn was not PID 1 of the container, ranks may
// still run.
void Runner::container_lost() {
  spawner_ = Spawner::removing;
  setup_.container->remove([this] { spawner_ = Spawner::gone; });
  feed(SpawnLost{SpawnEnd::container_gone});
}

void Runner::perform(const ReadStderrTail& action) {
  feed(StderrTail{action.rank, logs_.stderr_tail(action.rank)});
}

void Runner::perform(const DrainLogs&) {
  if (stage_ == Stage::supervising) stage_ = Stage::draining;
  drain_if_empty();
}

void Runner::drain_if_empty() {
  if (stage_ != Stage::draining || is_killing() || kill_after_cores_ || !drain_main() ||
      !logs_.drain())
    return;
  stage_ = Stage::drained;
  feed(LogsDrained{logs_.sizes()});
}

}  // namespace lockstep::runner
