// Reports to the agent: the part's state at each change, and the final report, which is on disk
// before the runner leaves.

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "common/domain/why/all/convert.h"
#include "common/domain/why/ranks/ranks.h"
#include "common/io/attempt/short_path.h"
#include "common/io/file_system.h"
#include "common/io/files/disk_space.h"
#include "common/wire/runners/runner_codec.h"
#include "runner/runner.h"

namespace lockstep::runner {
namespace {

constexpr Duration kWriteAgainAfter = milliseconds(500);
constexpr Duration kSettleTimeout = seconds(60);
constexpr Duration kLookIfSettledEvery = milliseconds(5);
constexpr Duration kLingerEvery = milliseconds(250);

// Whether a path was certainly removed: a failing disk may work again later.
bool was_removed(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) != 0 && errno == ENOENT;
}

// Returns the log's size after that.
Result<std::uint64_t> append_to_log(const std::string& path, const std::string& text) {
  TRY_ASSIGN(const io::Fd log,
             io::open_file(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC));
  TRY(io::write_all(log.get(), text));
  struct stat info {};
  if (::fstat(log.get(), &info) != 0) return errno_error(errno, "stat " + path);
  return static_cast<std::uint64_t>(info.st_size);
}

// The runner's clock is not changed when the machine's clock is set. The launcher knows how far the
// machine's clock is off now, and orders the ends of ranks on all nodes by that.
void follow_wall_clock(NodeExitReport& report, Duration set_by) {
  const auto follow = [set_by](Instant& time) {
    if (time.ns > -set_by.count() && time.ns != 0) time = time + set_by;
  };
  follow(report.ended);
  for (RankExit& rank : report.ranks) follow(rank.time);
}

}  // namespace

void Runner::perform(const Report& action) {
  // The core has begun to end the ranks, so ranks that have not started are given up.
  if (action.report.state == PartState::stopping) give_up_starts(StartsGivenUp{});
  if (final_report_ && stage_ != Stage::reported) return;  // reported once it is on disk
  blocked_shown_ = logs_.blocked_reason();
  ended_told_ = action.report.ended.size();
  spdlog::info("{}{}", to_string(action.report.state),
               blocked_shown_.empty() ? "" : ": " + blocked_shown_);
  control_->tell(shown(action.report));
}

// The state that the agent may know: a part has ended only when its final report is on disk.
PartReport Runner::shown(PartReport report) const {
  if (stage_ == Stage::reported) {
    report.exit = final_report_;
  } else if (final_report_) {
    report.state = PartState::running;
    report.exit.reset();
  }
  if (!why_no_port_.empty()) report.progress = why_no_port_;
  if (!logs_.blocked_reason().empty()) report.progress = logs_.blocked_reason();
  report.limits = limit_watch_.reached();
  report.notes = notes();
  if (gang_ && report.state >= PartState::running) tell_network(report);
  if (gang_watch_ && stage_ != Stage::reported) report.found = gang_watch_->found();
  if (awaits_secrets()) {
    report.attempt = orders_.assignment.attempt;
    report.progress = "waiting for the values of its secrets";
  }
  return report;
}

void Runner::tell_network(PartReport& report) const {
  const auto& network = gang_->network;
  if (network.empty()) return;
  report.settings = network.front();
  report.other_settings = other_settings_;
}

void Runner::perform(const WriteFinalReport& action) {
  look_at_transport(true);
  final_report_ = action.report;
  final_report_->notes = notes();
  follow_wall_clock(*final_report_, io::wall_clock() - clock_.now());
  stage_ = Stage::settling;
  io::unlink_short_path(directory_);
  if (setup_.place)
    if (const Status back = setup_.place->give_back(); !back)
      spdlog::error("{}", back.error().message);
  tell_limits();
  tell_totals();
  forget_probe_of(action.report);
  tell_cores();
  if (action.report.cause == Cause::completed) {
    settle_until_ = clock_.now() + kSettleTimeout;
    linger();
  }
  spdlog::info("the end: {}{}", to_string(action.report.cause),
               action.report.why ? ": " + log_text(action.report.why) : "");
  write_final_report();
}

// Whether a container has ended: one that is reported as ended must be gone, since people who look
// at the engine rely on that, and so does the next user of its GPUs.
bool Runner::container_ends() {
  if (!setup_.container) return false;
  setup_.isolation.spawn.reset();
  if (setup_.container->has_ended(clock_.now())) return false;
  return true;
}

// Writes the reason why ranks do not start into the environment's log: such ranks have no log.
void Runner::tell_environment_log() {
  if (!orders_.assignment.spec.environment) return;
  const bool never_started =
      final_report_->started.ns == 0 && (is_infrastructure(final_report_->cause) ||
                                         final_report_->cause == Cause::environment_failed);
  std::string text;
  if (never_started && setup_.container) text += setup_.container->said();
  if (never_started) text += "failed: " + log_text(final_report_->why) + "\n";
  if (setup_.container && !setup_.container->why_left().empty())
    text += setup_.container->why_left() + "\n";
  if (text.empty()) return;
  const int node_rank = orders_.assignment.node_rank;
  const auto size = append_to_log(directory_.log(node_rank, LogStream::environment), text);
  if (size)
    final_report_->logs.push_back({node_rank, 0, 0, *size});
  else
    spdlog::warn("{}", size.error().message);
}

// The agent trusts only the report on disk, so a runner does not leave before it is written.
void Runner::write_final_report() {
  if (stage_ == Stage::settling) {
    if (others_need_us() || container_ends()) {
      write_again_at_ = clock_.now() + kLookIfSettledEvery;
      return;
    }
    if (watches_others()) {
      write_again_at_ = clock_.now() + kLingerEvery;
      return;
    }
    tell_environment_log();
    final_report_->log_times = logs_.times();
    stage_ = Stage::writing;
  }
  const std::string report = wire::encode(*final_report_);
  // The reserve file becomes the report, so that no other file has to be made or removed.
  auto written =
      io::write_into_reserve(directory_.report_reserve(), directory_.final_report(), report);
  if (!written) written = io::write_file_atomically(directory_.final_report(), report);
  if (written) {
    io::release_reserve(directory_.report_reserve());
    stage_ = Stage::reported;
    const bool late = write_again_at_ != Instant::never();
    write_again_at_ = Instant::never();
    if (late) perform(Report{core_.report()});
    return;
  }
  spdlog::error("final report: {}", written.error().message);
  if (was_removed(directory_.path())) {
    stage_ = Stage::homeless;
    return;
  }
  write_again_at_ = clock_.now() + kWriteAgainAfter;
}

}  // namespace lockstep::runner
