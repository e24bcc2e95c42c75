#include "launcher/cli/attach/rank_zero_terminal.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include "common/base/printable.h"
#include "common/domain/messages/bulk_protocol.h"
#include "launcher/cli/follow/follower.h"
#include "launcher/cli/terminal/raw_terminal.h"

namespace lockstep::cli {

RankZeroTerminal::RankZeroTerminal(Connection& connection, Terminal& terminal, TerminalKind kind)
    : connection_(connection), terminal_(terminal), kind_(kind) {}
RankZeroTerminal::~RankZeroTerminal() = default;

void RankZeroTerminal::on_job(const JobView& job) {
  if (!client_ && job.status == JobStatus::running) attach(job);
}

void RankZeroTerminal::attach(const JobView& job) {
  AttachOptions options;
  options.is_terminal = options.shows_output = kind_ == TerminalKind::pty;
  options.open.job = JobId(job.spec.name);
  options.open.rank = 0;
  options.open.order = AttachMain{terminal_size(STDIN_FILENO)};
  client_.emplace(connection_, terminal_, std::move(options));
  // If they cannot be watched, the terminal keeps its first size.
  [[maybe_unused]] const Status watched =
      connection_.loop().watch_signals({SIGWINCH, SIGCONT}, [this](int signal) {
        if (signal == SIGCONT)
          client_->continued();
        else if (kind_ == TerminalKind::pty)
          client_->resize();
      });
}

bool RankZeroTerminal::on_bulk(const BulkEnvelope& envelope) {
  const bool is_ours = client_ && client_->on_bulk(envelope);
  if (is_ours) say_refusal();
  return is_ours;
}

void RankZeroTerminal::on_bulk_up() {
  if (client_) client_->on_bulk_up();
}

void RankZeroTerminal::tick(Instant now) {
  if (!client_) return;
  client_->tick(now);
  say_refusal();
}

// The job continues, and its log has the output of rank 0.
void RankZeroTerminal::say_refusal() {
  const auto& outcome = client_->outcome();
  if (!outcome || outcome->how != AttachOutcome::How::refused || is_refusal_said_) return;
  if (!client_->is_opened()) return;  // rank 0 has ended, which is reported elsewhere
  is_refusal_said_ = true;
  terminal_.print_line(
      fmt::format("no longer connected to rank 0: {}; `lockstep job logs` shows "
                  "what it writes",
                  in_one_line(outcome->error->message)));
}

Instant RankZeroTerminal::next_deadline() const {
  return client_ ? client_->next_deadline() : Instant::never();
}

Beside::State RankZeroTerminal::state() const {
  if (!client_) return State::waits;
  const auto& outcome = client_->outcome();
  if (!outcome) return client_->is_opened() ? State::goes_on : State::waits;
  switch (outcome->how) {
    case AttachOutcome::How::ended:
    case AttachOutcome::How::refused: return State::over;
    case AttachOutcome::How::left: return State::left;
    case AttachOutcome::How::output_closed: return State::output_closed;
  }
  return State::over;
}

namespace {

// Shows the log of a rank 0 that ended before its terminal was attached. Uses a connection of its
// own, because the loop of the other one still has the follower's handlers.
void show_log_of_rank_zero(Context& context, const JobId& job) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return context.terminal.print_line(connection.error().message);
  FollowOptions log;
  log.job = job;
  log.show_state = log.until_final = false;
  log.is_over = log.single_log = true;
  log.filter.rank = 0;
  hold_interrupts(true);
  const auto find_endpoint = [&context] { return context.find_endpoint(); };
  const auto end = Follower(**connection, context.terminal, find_endpoint, log).run();
  if (!end) context.terminal.print_line(end.error().message);
}

}  // namespace

// Connects the terminal. A user who leaves the terminal leaves the job, since nobody else writes to
// it.
void connect_rank_zero(Context& context, RankZeroTerminal& rank_zero, TerminalKind kind,
                       WatchOptions& watch) {
  if (kind == TerminalKind::none) return;
  const auto job = std::make_shared<JobId>();
  watch.select = [&rank_zero, kind, job](FollowOptions& follow) {
    *job = follow.job;
    follow.beside = &rank_zero;
    follow.without_logs = kind == TerminalKind::pty;
    follow.cancel_on_hang_up = true;
  };
  if (kind != TerminalKind::pty) return;
  watch.before_report = [&context, &rank_zero, job] {
    if (!rank_zero.was_attached()) show_log_of_rank_zero(context, *job);
  };
}

Status check_terminal(TerminalKind kind, bool detaches, bool is_array, bool prints_record) {
  if (kind == TerminalKind::none) return {};
  const std::string flag = kind == TerminalKind::pty ? "run: --pty" : "run: --stdin";
  const auto wrong = [&](const std::string& why) {
    return make_error(ErrorCode::invalid_argument, flag + " " + why);
  };
  if (detaches)
    return wrong(
        "connects this command to rank 0, so it does not go with --detach; see "
        "lockstep.terminal of a job file, and `lockstep job shell NAME --main`");
  if (is_array) return wrong("is for one job, and not for the tasks of --array");
  if (kind == TerminalKind::pty && prints_record)
    return wrong("has standard output for the terminal of rank 0, so it does not go with -o");
  if (kind == TerminalKind::pty && (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1))
    return wrong("needs a terminal as standard input and output; --stdin passes on a pipe or file");
  return {};
}

}  // namespace lockstep::cli
