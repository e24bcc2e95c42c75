#include "launcher/cli/follow/pipeline_follower.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "common/domain/messages/bulk_protocol.h"
#include "common/io/clock.h"
#include "launcher/cli/follow/pipeline_follower_impl.h"
#include "launcher/cli/follow/step_lines.h"
#include "launcher/cli/follow/step_logs.h"
#include "launcher/cli/link/listening.h"
#include "launcher/cli/text/found_lines.h"

namespace lockstep::cli {

namespace {

// How long the rest of a finished pipeline's logs may take.
constexpr Duration kLogsAfterEnd = seconds(30);
constexpr std::size_t kMostLiveLines = 10;
constexpr Duration kAskStepsEvery = seconds(5);
constexpr int kMostStepsAsked = 16;  // how many steps are asked at a time

// The launcher does not report each change of a step, so it is asked regularly. The answer has all
// steps.
Duration ask_every(std::size_t steps) { return steps <= 200 ? seconds(1) : seconds(5); }

}  // namespace

StepLogs::Ask how_to_ask(const FollowOptions& options) {
  const bool all_is_past = !options.until_final || options.is_over;
  return all_is_past ? StepLogs::Ask::once : StepLogs::Ask::once_then_on;
}

// ---- output -------------------------------------------------------------------------------------

MergeOptions PipelineFollower::Impl::looks() {
  MergeOptions looks = merge_options(terminal, options, clock.now());
  looks.prefix = !options.no_prefix;
  looks.by_line = true;
  looks.show_partial_after = seconds(1);
  looks.name_of = [this](const LogChunk& chunk) { return name_of(chunk); };
  return looks;
}

// "train", "train:3" or "train environment on n1", padded to the widest step's name.
MergeOptions::Name PipelineFollower::Impl::name_of(const LogChunk& chunk) const {
  const auto found = step_of.find(chunk.key.attempt.job);
  const std::size_t index = found == step_of.end() ? 0 : found->second;
  std::string text = job->steps.at(index).name;
  if (chunk.key.stream == LogStream::environment)
    text += " environment on " + chunk.node_name;
  else if (chunk.key.rank > 0)
    text += fmt::format(":{}", chunk.key.rank);
  return {fmt::format("{:<{}}", text, name_width), index};
}

void PipelineFollower::Impl::write(LogStream stream, std::string_view bytes) {
  output_open = write_log(terminal, options, stream, bytes) && output_open;
}

// Shows the lines: the end of a step after its last line, and the consequences after that.
void PipelineFollower::Impl::say_lines() {
  bool any_waits = false;
  std::erase_if(held, [&](const StepLine& line) {
    const bool is_shown = logs.is_read(line.after_logs_of) && ending.count(line.after_logs_of) == 0;
    const bool waits = !is_shown || (line.after_all && any_waits);
    any_waits = any_waits || waits;
    if (!waits) terminal.print_line(line.text);
    return !waits;
  });
}

void PipelineFollower::Impl::show_live(Instant now) {
  if (now < live_due) return;
  live_due = Instant::never();
  live_drawn = now;
  auto live = merge.live();
  live.resize(std::min(live.size(), kMostLiveLines));
  terminal.live(std::move(live));
}

// ---- questions ----------------------------------------------------------------------------------

// Asks about the pipeline and the launcher; see Follower.
void PipelineFollower::Impl::ask() {
  next_ask = clock.now() + ask_every(job ? job->steps.size() : 0);
  connection.send(WatchJob{options.job});
  connection.send(GetStatus{});
  lease.expect_answer(listening.total());
}

// Asks the steps why their ranks hang, which a pipeline's own answer does not tell.
void PipelineFollower::Impl::ask_steps(Instant now) {
  next_ask_steps = now + kAskStepsEvery;
  if (!job || !options.show_state) return;
  int asked = 0;
  for (const StepView& step : job->steps)
    if (step.status == JobStatus::running && asked++ < kMostStepsAsked)
      connection.send(ShowJob{step.job});
}

void PipelineFollower::Impl::ask_logs(const JobId& step) {
  const bool any = turn && turn->job == step && turn->any;
  LogFollow follow = options.filter;
  follow.job = step;
  follow.follow = false;
  follow.credit = chunks_of_turn();
  follow.times = true;
  follow.resume = order.positions(step);
  if (begun.count(step) != 0) {
    follow.tail_lines = -1;
    follow.since.reset();
  }
  // The position makes the launcher begin with the first attempt, not the newest; an earlier
  // attempt may have come and gone since the last question.
  const LogKey first{{step, 1}, 0, LogStream::out};
  const bool is_known = std::any_of(follow.resume.begin(), follow.resume.end(),
                                    [&](const auto& position) { return position.key == first; });
  if (from_start() && !is_known) follow.resume.push_back({first, 0});
  BulkEnvelope envelope;
  envelope.body = std::move(follow);
  turn = Turn{step, connection.send_bulk(std::move(envelope)), 0, any, listening.total()};
}

void PipelineFollower::Impl::ask_next(Instant now) {
  if (turn) return;
  if (const auto step = logs.next(now)) ask_logs(*step);
}

void PipelineFollower::Impl::end_turn(const StepLogs::Answer& answer) {
  const JobId step = turn->job;
  turn.reset();
  progressed = listening.total();
  if (!answer.more) begun.insert(step);
  logs.answered(step, {answer.any, answer.more, answer.final, order.reached(step)}, clock.now());
  if (!logs.in_order()) order.release_all();
  if (logs.is_past_read(step)) order.done(step);
  if (logs.is_read(step)) ending.insert(step);
  std::erase_if(ending, [this](const JobId& read) {
    if (order.holds(read)) return false;
    merge.finish(read);
    return true;
  });
  go_on_if_past_is_read();
  say_lines();
}

void PipelineFollower::Impl::go_on_if_past_is_read() {
  if (!logs.is_past_read()) return;
  order.release_all();
  logs.go_on(clock.now());
}

void PipelineFollower::Impl::tick(Instant now) {
  next_tick = now + kTick;
  if (lease.is_lost(listening.total())) reconnect();
  if (!is_over && (now >= next_ask || lease.must_ask(listening.total()))) ask();
  if (cancel == FollowEnd::Cancel::unanswered) ask_to_cancel();
  if (!is_over && now >= next_ask_steps) ask_steps(now);
  if (turn && listening.since(turn->heard) > options.logs_quiet) ask_logs(turn->job);
  if (options.keep_nodes && !lost_said && !is_over) options.keep_nodes();
}

void PipelineFollower::Impl::reconnect() {
  const auto endpoint = find_endpoint();
  if (!lost_said)
    terminal.print_line(
        endpoint ? "the launcher does not answer; waiting for it (the pipeline continues)"
                 : "the launcher has ended; waiting for a launcher (the pipeline continues): " +
                       (options.how_to_start ? options.how_to_start() + ", " : "") +
                       "Ctrl-C stops waiting");
  lost_said = true;
  if (!endpoint) return;
  if (connection.reopen(*endpoint) && turn) ask_logs(turn->job);
}

// ---- signals ------------------------------------------------------------------------------------

void PipelineFollower::Impl::on_interrupt() {
  if (++interrupts > 1 || !options.cancel_on_interrupt) return;
  if (lost_said && !find_endpoint()) {
    ++interrupts;  // without a launcher nobody can cancel the job, so the first Ctrl-C leaves
    terminal.print_line("cannot cancel " + options.job.value + ": no launcher is running");
    return;
  }
  terminal.print_line(fmt::format(
      "canceling {} and its steps: SIGTERM now, SIGKILL if they do not end; press Ctrl-C again to "
      "leave without waiting",
      options.job.value));
  ask_to_cancel();
}

void PipelineFollower::Impl::ask_to_cancel() {
  cancel = FollowEnd::Cancel::unanswered;
  cancel_sequence = connection.send(CancelJob{options.job});
  lease.expect_answer(listening.total());
}

// ---- the loop -----------------------------------------------------------------------------------

bool PipelineFollower::Impl::finished() {
  if (!job || (options.until_final && !is_over)) return false;
  if (logs.all_read()) return true;
  if (listening.since(progressed) < kLogsAfterEnd) return false;
  terminal.print_line("the last log lines did not arrive; see `lockstep job logs " +
                      options.job.value + "`");
  return true;
}

Instant PipelineFollower::Impl::next_deadline() const {
  const Instant of_logs = turn ? Instant::never() : logs.next_deadline();
  return std::min({next_tick, merge.next_deadline(), live_due, of_logs});
}

Status PipelineFollower::Impl::listen() {
  // A blocked signal is queued even if it is ignored, so with nohup SIGHUP is not watched.
  struct sigaction hangup {};
  std::vector<int> signals{SIGINT, SIGTERM};
  if (::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
    signals.push_back(SIGHUP);
  TRY(connection.loop().watch_signals(signals, [this](int signal) {
    if (signal == SIGHUP)
      hung_up = true;
    else
      on_interrupt();
  }));
  Connection::Listener listener;
  listener.on_control = [this](const Envelope<ClientReply>& envelope) { on_control(envelope); };
  listener.on_bulk = [this](const BulkEnvelope& envelope) { on_bulk(envelope); };
  listener.on_control_up = [this] { ask(); };
  listener.on_control_down = [this] { lease.expect_answer(listening.total()); };
  listener.on_bulk_up = [this] {
    if (turn) ask_logs(turn->job);
  };
  return connection.listen(std::move(listener));
}

FollowEnd PipelineFollower::Impl::end(FollowEnd::How how) {
  order.release_all();
  merge.finish();
  terminal.clear_status();
  return {how, job, interrupts > 0, cancel, in_vain};
}

PipelineFollower::PipelineFollower(Connection& connection, Terminal& terminal,
                                   Follower::FindEndpoint find_endpoint, FollowOptions options)
    : impl_(std::make_unique<Impl>(connection, terminal, std::move(find_endpoint),
                                   std::move(options))) {}
PipelineFollower::~PipelineFollower() { impl_->connection.stop_listening(); }

Result<FollowEnd> PipelineFollower::run() {
  Impl& me = *impl_;
  TRY(me.listen());
  me.next_tick = me.clock.now() + Impl::kTick;
  me.ask();
  while (true) {
    const Instant now = me.clock.now();
    me.listening.turn(now);
    if (me.failure) return *me.failure;
    if (me.hung_up) return me.end(FollowEnd::How::hung_up);
    if (!me.output_open) return me.end(FollowEnd::How::output_closed);
    if (me.interrupts > (me.options.cancel_on_interrupt ? 1 : 0))
      return me.end(FollowEnd::How::detached);
    if (me.finished()) return me.end(FollowEnd::How::finished);
    if (now >= me.next_tick) me.tick(now);
    me.ask_next(now);
    me.merge.show_partial(now);
    me.show_live(now);
    me.connection.loop().turn(me.next_deadline() - now);
  }
}

}  // namespace lockstep::cli
