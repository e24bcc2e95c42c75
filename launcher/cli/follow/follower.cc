#include "launcher/cli/follow/follower.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <set>
#include <vector>

#include "common/domain/messages/bulk_protocol.h"
#include "common/io/clock.h"
#include "common/io/net/link_state.h"
#include "common/io/net/reach.h"
#include "launcher/cli/follow/follower_impl.h"
#include "launcher/cli/link/listening.h"
#include "launcher/cli/terminal/output.h"
#include "launcher/cli/text/found_lines.h"

namespace lockstep::cli {

namespace {

// How long a second Ctrl-C waits for the answer to a cancel.
constexpr Duration kLastAnswer = milliseconds(300);
// The time for which the port for logs may be unreachable while the other port answers.
constexpr Duration kBulkWithin = seconds(7);
// How often a redrawn line is written if the output is not a terminal.
constexpr Duration kStatesEvery = seconds(1);
// The longest wait of a line for older lines of other logs.
constexpr Duration kHoldAtMost = seconds(2);
// shorter: with one log no other line can come between
constexpr Duration kShowPartialOfOne = milliseconds(100);
constexpr Duration kBesideAfterEnd = seconds(5);  // how long it may continue after the job's end
// If a connection does not read, the launcher drops its follow; then more chunks than these are
// under way.
constexpr std::uint32_t kBurst = 8;

}  // namespace

LogStream written_to(LogStream stream, const FollowOptions& options) {
  if (options.all_to_stderr) return LogStream::err;
  const bool is_asked_for = stream == options.filter.stream && stream == LogStream::environment;
  return is_asked_for || stream == LogStream::out ? LogStream::out : LogStream::err;
}

std::function<bool(LogStream)> on_terminal(const Terminal& terminal, const FollowOptions& options) {
  const bool any = terminal.is_terminal(LogStream::out) || terminal.is_terminal(LogStream::err);
  if (options.raw || !any) return {};
  return [&](LogStream stream) { return terminal.is_terminal(written_to(stream, options)); };
}

MergeOptions merge_options(const Terminal& terminal, const FollowOptions& options, Instant now) {
  MergeOptions merge;
  merge.prefix = !options.single_log && !options.no_prefix;
  merge.by_line = !options.single_log;
  merge.timestamps = options.timestamps;
  merge.wanted = options.wanted;
  merge.color = terminal.color() && !options.all_to_stderr;
  merge.from_start = options.filter.tail_lines < 0 && !options.filter.since;
  merge.show_partial_after = options.single_log ? kShowPartialOfOne : seconds(1);
  merge.on_terminal = on_terminal(terminal, options);
  if (!options.raw) merge.states_every = kStatesEvery;
  if (options.filter.tail_lines >= 0) merge.states_since = now;
  return merge;
}

bool write_log(Terminal& terminal, const FollowOptions& options, LogStream stream,
               std::string_view bytes) {
  const LogStream to = written_to(stream, options);
  return options.raw ? terminal.write_raw(to, bytes) : terminal.write(to, bytes);
}

void Follower::Impl::follow_logs() {
  if (options.without_logs) return;
  LogFollow follow = options.filter;
  follow.job = options.job;
  follow.follow = options.until_final;
  follow.credit = kCredit;
  follow.times = true;
  follow.resume = order.positions();
  taken = burst = 0;
  logged_at = listening.total();
  logs_refused = false;
  BulkEnvelope envelope;
  envelope.body = std::move(follow);
  connection.send_bulk(std::move(envelope));
}

void Follower::Impl::subscribe() {
  ask();
  follow_logs();
}

// Asks for the job, from now on, and for the launcher's identity: a new process knows nothing of
// our follow.
void Follower::Impl::ask() {
  connection.send(WatchJob{options.job});
  connection.send(GetStatus{});
  lease.expect_answer(listening.total());
}

void Follower::Impl::tick(Instant now) {
  next_tick = now + kTick;
  if (lease.is_lost(listening.total())) reconnect();
  if (lease.must_ask(listening.total())) ask();
  if (cancel == FollowEnd::Cancel::unanswered) ask_to_cancel();
  tell_bulk_trouble(now);
  if (order.holds() && listening.since(logged_at) > kHoldAtMost) order.release_all();
  if (must_resume_logs()) follow_logs();
  if (options.keep_nodes && !lost_said && !is_over) options.keep_nodes();
}

// Tells that only the port for logs is unreachable: a firewall may pass the launcher's port but not
// the next one.
void Follower::Impl::tell_bulk_trouble(Instant now) {
  const auto bulk = connection.bulk();
  if (!bulk || io::is_connected(**bulk) || is_control_down) {
    without_bulk_since.reset();
    return;
  }
  if (!without_bulk_since) without_bulk_since = now;
  if (now - *without_bulk_since < kBulkWithin || is_bulk_told) return;
  is_bulk_told = true;
  const std::string endpoint = io::endpoint_of(**bulk);
  terminal.print_line(fmt::format(
      "no log lines come: there is no connection to {}, the launcher's port for files and logs: {}",
      printable(endpoint), io::why_not_connected(endpoint, seconds(1))));
}

// Whether the logs must be resumed. While the job runs, silence is normal. After its end, the
// LogEnd may be lost.
bool Follower::Impl::must_resume_logs() const {
  if (log_end || options.without_logs) return false;
  if (listening.since(logged_at) <= options.logs_quiet) return false;
  return is_over || !options.until_final || burst >= kBurst || logs_refused;
}

void Follower::Impl::reconnect() {
  const auto endpoint = find_endpoint();
  if (!lost_said)
    terminal.print_line(
        endpoint ? "the launcher does not answer; waiting for it (the job continues)"
                 : "the launcher has ended; waiting for a launcher (the job continues): " +
                       (options.how_to_start ? options.how_to_start() + ", " : "") +
                       "Ctrl-C stops waiting");
  lost_said = true;
  if (!endpoint) return;
  if (!connection.reopen(*endpoint)) return;
  follow_logs();
  if (options.beside != nullptr) options.beside->on_bulk_up();
}

void Follower::Impl::on_signal(int signal) {
  if (signal == SIGHUP) {
    hung_up = true;
  } else {
    on_interrupt();
  }
}

void Follower::Impl::on_interrupt() {
  if (++interrupts > 1 || !options.cancel_on_interrupt) return;
  if (lost_said && !find_endpoint()) {
    ++interrupts;  // without a launcher nobody can cancel the job, so the first Ctrl-C leaves
    terminal.print_line("cannot cancel " + options.job.value + ": no launcher is running");
    return;
  }
  const bool has_ranks = job && job->status != JobStatus::queued;
  terminal.print_line(fmt::format("canceling {}{}; press Ctrl-C again to leave without waiting",
                                  options.job.value,
                                  has_ranks ? ": SIGTERM now, SIGKILL if it does not end" : ""));
  ask_to_cancel();
}

void Follower::Impl::ask_to_cancel() {
  cancel = FollowEnd::Cancel::unanswered;
  cancel_sequence = connection.send(CancelJob{options.job});
  lease.expect_answer(listening.total());
}

bool Follower::Impl::finished() {
  if (!options.until_final) return log_end.has_value();
  if (!is_over || beside_goes_on()) return false;
  if (log_end || options.without_logs || job->attempts.empty()) return true;
  const Duration time_limit =
      is_bulk_told && without_bulk_since ? kBulkWithin : options.logs_after_end;
  if (listening.since(std::max(ended_at, heard_at)) < time_limit) return false;
  terminal.print_line("the last log lines did not arrive; see `lockstep job logs " +
                      options.job.value + "`");
  return true;
}

// Whether something beside the job goes on: the last bytes may be under way. Bytes that come too
// late are in the log.
bool Follower::Impl::beside_goes_on() const {
  return options.beside != nullptr && options.beside->state() == Beside::State::goes_on &&
         listening.since(ended_at) < kBesideAfterEnd;
}

Instant Follower::Impl::next_deadline() const {
  const Instant beside =
      options.beside == nullptr ? Instant::never() : options.beside->next_deadline();
  return std::min({next_tick, merge.next_deadline(), lines.next_deadline(), live_due, beside});
}

Follower::Follower(Connection& connection, Terminal& terminal, FindEndpoint find_endpoint,
                   FollowOptions options)
    : impl_(std::make_unique<Impl>(connection, terminal, std::move(find_endpoint),
                                   std::move(options))) {}
Follower::~Follower() { impl_->connection.stop_listening(); }

Status Follower::Impl::listen() {
  // A blocked signal is queued even if it is ignored, so with nohup SIGHUP is not watched.
  struct sigaction hangup {};
  std::vector<int> signals{SIGINT, SIGTERM};
  if (::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
    signals.push_back(SIGHUP);
  TRY(connection.loop().watch_signals(signals, [this](int signal) { on_signal(signal); }));
  Connection::Listener listener;
  listener.on_control = [this](const Envelope<ClientReply>& envelope) { on_control(envelope); };
  listener.on_bulk = [this](const BulkEnvelope& envelope) { on_bulk(envelope); };
  listener.on_control_up = [this] {
    is_control_down = false;
    ask();
  };
  listener.on_control_down = [this] {
    is_control_down = true;
    lease.expect_answer(listening.total());
  };
  listener.on_bulk_up = [this] {
    if (!log_end) follow_logs();
    if (options.beside != nullptr) options.beside->on_bulk_up();
  };
  return connection.listen(std::move(listener));
}

// Waits for the launcher's answer to the cancel, so that the last message is true.
void Follower::Impl::await_answer(Instant until) {
  for (Instant now = clock.now(); cancel == FollowEnd::Cancel::unanswered && now < until;
       now = clock.now())
    connection.loop().turn(until - now);
}

FollowEnd Follower::Impl::end(FollowEnd::How how) {
  order.release_all();
  merge.finish();
  terminal.clear_status();
  return {how, job, interrupts > 0, cancel, in_vain, has_logs};
}

// The end after a user has left the terminal, to which they do not return.
FollowEnd Follower::Impl::left_end(FollowEnd::How how, Instant now) {
  if (options.cancel_on_hang_up && !is_over) {
    ask_to_cancel();
    await_answer(now + kLastAnswer);
  }
  return end(how);
}

Result<FollowEnd> Follower::run() {
  Impl& me = *impl_;
  TRY(me.listen());
  me.next_tick = me.clock.now() + Impl::kTick;
  me.subscribe();
  while (true) {
    const Instant now = me.clock.now();
    me.listening.turn(now);
    if (me.failure) return *me.failure;
    const auto beside =
        me.options.beside == nullptr ? Beside::State::waits : me.options.beside->state();
    if (me.hung_up) return me.left_end(FollowEnd::How::hung_up, now);
    if (beside == Beside::State::left) return me.left_end(FollowEnd::How::detached, now);
    if (!me.output_open || beside == Beside::State::output_closed)
      return me.end(FollowEnd::How::output_closed);
    if (me.interrupts > (me.options.cancel_on_interrupt ? 1 : 0)) {
      me.await_answer(now + kLastAnswer);
      return me.end(FollowEnd::How::detached);
    }
    if (me.finished()) return me.end(FollowEnd::How::finished);
    if (now >= me.next_tick) me.tick(now);
    if (now >= me.lines.next_deadline()) me.show_state(now);
    me.merge.show_partial(now);
    me.show_live(now);
    if (me.options.beside != nullptr) me.options.beside->tick(now);
    me.connection.loop().turn(me.next_deadline() - now);
  }
}

}  // namespace lockstep::cli
