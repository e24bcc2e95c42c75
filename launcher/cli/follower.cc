#include "launcher/cli/follower.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

#include "common/domain/bulk.h"
#include "common/io/clock.h"

namespace lockstep::cli {

namespace {

constexpr Duration kKeepAlive = seconds(1);
constexpr Duration kSilence = seconds(3);        // without an answer: the launcher is gone
constexpr Duration kLogsAfterEnd = seconds(30);  // the rest of the logs of a final job
constexpr Duration kResumeAfter = seconds(5);    // logs silent: ask for them again, by offset
constexpr std::uint32_t kCredit = 64;

}  // namespace

struct Follower::Impl {
  Impl(Connection& c, Terminal& t, FindEndpoint f, FollowOptions o)
      : connection(c),
        terminal(t),
        find_endpoint(std::move(f)),
        options(std::move(o)),
        merge({.prefix = !options.single_rank,
               .color = t.color(),
               .from_start = options.filter.tail_lines < 0,
               .show_partial_after = seconds(1)},
              [this](LogStream stream, std::string_view bytes) {
                output_open = terminal.write(stream, bytes) && output_open;
              }) {}

  void subscribe();
  void follow_logs();
  void keep_alive(Instant now);
  void reconnect(Instant now);
  void on_control(const Envelope& envelope);
  void on_bulk(const BulkEnvelope& envelope);
  void on_job(const JobView& view);
  void on_chunk(const LogChunk& chunk);
  void on_interrupt();
  void show_state();
  bool finished(Instant now);
  Instant next_deadline() const;

  Connection& connection;
  Terminal& terminal;
  FindEndpoint find_endpoint;
  FollowOptions options;
  io::SystemClock clock;
  LogMerge merge;
  bool output_open = true;

  std::optional<JobView> job;
  std::string shown_state;
  std::optional<Error> failure;
  std::optional<std::string> log_end;  // the status word of LogEnd
  std::optional<Instant> final_since;
  int interrupts = 0;
  bool cancel_pending = false;
  std::uint64_t cancel_sequence = 0;

  Instant next_keep_alive;
  Instant last_answer;
  Instant last_log;
  std::uint32_t taken = 0;                  // chunks since credit was given back
  std::optional<Instant> launcher_started;  // another value: another launcher process
  bool lost_said = false;
};

void Follower::Impl::follow_logs() {
  LogFollow follow = options.filter;
  follow.job = options.job;
  follow.follow = options.until_final;
  follow.credit = kCredit;
  follow.resume = merge.positions();
  taken = 0;
  last_log = clock.now();
  BulkEnvelope envelope;
  envelope.body = std::move(follow);
  connection.send_bulk(std::move(envelope));
}

void Follower::Impl::subscribe() {
  connection.send(WatchJob{options.job});
  follow_logs();
  connection.send(GetStatus{});
}

// Asks for the job and for the launcher itself: the answers prove that it lives, bring what a lost
// push would have brought, and tell when it is another process that knows nothing of our follow.
void Follower::Impl::keep_alive(Instant now) {
  next_keep_alive = now + kKeepAlive;
  if (now - last_answer > kSilence) reconnect(now);
  connection.send(WatchJob{options.job});
  connection.send(GetStatus{});
  if (cancel_pending) cancel_sequence = connection.send(CancelJob{options.job});
  if (!log_end && now - last_log > kResumeAfter) follow_logs();
}

void Follower::Impl::reconnect(Instant now) {
  const auto endpoint = find_endpoint();
  if (!lost_said)
    terminal.note(endpoint ? "the launcher does not answer; the job goes on, waiting for it"
                           : "the launcher has ended; the job goes on, waiting for a launcher: "
                             "`lockstep up` starts it again, Ctrl-C leaves");
  lost_said = true;
  if (!endpoint || now - last_answer < kSilence) return;
  if (connection.reopen(*endpoint)) follow_logs();
}

void Follower::Impl::on_control(const Envelope& envelope) {
  last_answer = clock.now();
  if (lost_said) terminal.note("the launcher is back");
  lost_said = false;
  if (const auto* reply = std::get_if<JobReply>(&envelope.body)) return on_job(reply->job);
  if (const auto* update = std::get_if<JobUpdate>(&envelope.body)) return on_job(update->job);
  if (const auto* reply = std::get_if<StatusReply>(&envelope.body)) {
    const Instant started = reply->status.started;
    if (launcher_started && *launcher_started != started && !log_end) follow_logs();
    launcher_started = started;
    return;
  }
  if (std::holds_alternative<Done>(envelope.body)) {
    if (envelope.reply_to == cancel_sequence) cancel_pending = false;
    return;
  }
  const auto* refused = std::get_if<Refused>(&envelope.body);
  if (refused == nullptr) return;
  if (cancel_pending && envelope.reply_to == cancel_sequence) {
    cancel_pending = false;  // it ended meanwhile
    return;
  }
  if (!job) failure = make_error(refused->code, refused->message);
}

void Follower::Impl::on_job(const JobView& view) {
  if (view.spec.name != options.job.value) return;
  if (job && is_final(job->status)) return;  // an answer that was on its way
  job = view;
  if (options.show_state) show_state();
  if (is_final(view.status) && !final_since) final_since = clock.now();
}

void Follower::Impl::show_state() {
  std::string text = fmt::format("{}: {}", job->spec.name, to_string(job->status));
  if (is_final(job->status)) {
    terminal.clear_status();
    return;
  }
  if (!job->reason.empty()) text += " (" + job->reason + ")";
  std::string state = text;
  if (!job->attempts.empty())
    for (const auto& part : job->attempts.back().parts)
      if (!part.progress.empty() && job->reason.find(part.progress) == std::string::npos)
        text += fmt::format("; {}: {}", part.node_name, part.progress);
  if (state != shown_state) {
    terminal.status(text);
    shown_state = std::move(state);
  } else {
    terminal.progress(text);
  }
}

void Follower::Impl::on_bulk(const BulkEnvelope& envelope) {
  if (const auto* chunk = std::get_if<LogChunk>(&envelope.body)) return on_chunk(*chunk);
  if (const auto* end = std::get_if<LogEnd>(&envelope.body)) {
    log_end = end->status;
    return;
  }
  if (const auto* refused = std::get_if<BulkRefused>(&envelope.body))
    failure = make_error(ErrorCode::unavailable, refused->message);
}

void Follower::Impl::on_chunk(const LogChunk& chunk) {
  const Instant now = clock.now();
  if (chunk.key.attempt.job != options.job) return;
  last_log = now;
  switch (merge.add(chunk, now)) {
    case LogMerge::Outcome::gap: return follow_logs();
    case LogMerge::Outcome::taken:
    case LogMerge::Outcome::seen_before: break;
  }
  if (++taken < kCredit / 2) return;
  BulkEnvelope envelope;
  envelope.body = LogCredit{taken};
  taken = 0;
  connection.send_bulk(std::move(envelope));
}

void Follower::Impl::on_interrupt() {
  if (++interrupts > 1 || !options.cancel_on_interrupt) return;
  if (lost_said && !find_endpoint()) {
    ++interrupts;  // nobody is there to cancel it, so the first Ctrl-C leaves
    terminal.note("no launcher runs that could cancel " + options.job.value);
    return;
  }
  terminal.note(fmt::format("canceling {}; press Ctrl-C again to leave it to end by itself",
                            options.job.value));
  cancel_pending = true;
  cancel_sequence = connection.send(CancelJob{options.job});
}

bool Follower::Impl::finished(Instant now) {
  if (!options.until_final) return log_end.has_value();
  if (!final_since) return false;
  if (log_end || job->attempts.empty()) return true;
  if (now - *final_since < kLogsAfterEnd) return false;
  terminal.note("the last of the logs did not arrive; see `lockstep job logs " + options.job.value +
                "`");
  return true;
}

Instant Follower::Impl::next_deadline() const {
  return std::min(next_keep_alive, merge.next_deadline());
}

Follower::Follower(Connection& connection, Terminal& terminal, FindEndpoint find_endpoint,
                   FollowOptions options)
    : impl_(std::make_unique<Impl>(connection, terminal, std::move(find_endpoint),
                                   std::move(options))) {}
Follower::~Follower() { impl_->connection.stop_listening(); }

Result<FollowEnd> Follower::run() {
  Impl& me = *impl_;
  TRY(me.connection.loop().watch_signals({SIGINT, SIGTERM}, [&](int) { me.on_interrupt(); }));
  Connection::Listener listener;
  listener.on_control = [&](const Envelope& envelope) { me.on_control(envelope); };
  listener.on_bulk = [&](const BulkEnvelope& envelope) { me.on_bulk(envelope); };
  listener.on_control_up = [&] { me.connection.send(WatchJob{me.options.job}); };
  listener.on_bulk_up = [&] {
    if (!me.log_end) me.follow_logs();
  };
  TRY(me.connection.listen(std::move(listener)));
  const auto end = [&](FollowEnd::How how) {
    me.merge.finish();
    me.terminal.clear_status();
    return FollowEnd{how, me.job, me.interrupts > 0};
  };
  me.last_answer = me.clock.now();
  me.next_keep_alive = me.last_answer + kKeepAlive;
  me.subscribe();
  while (true) {
    const Instant now = me.clock.now();
    if (me.failure) return *me.failure;
    if (!me.output_open) return end(FollowEnd::How::output_closed);
    if (me.interrupts > (me.options.cancel_on_interrupt ? 1 : 0))
      return end(FollowEnd::How::detached);
    if (me.finished(now)) return end(FollowEnd::How::finished);
    if (now >= me.next_keep_alive) me.keep_alive(now);
    me.merge.show_partial(now);
    me.connection.loop().turn(me.next_deadline() - now);
  }
}

}  // namespace lockstep::cli
