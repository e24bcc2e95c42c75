#include "launcher/cli/follow/follower.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/printable.h"
#include "common/domain/messages/bulk_protocol.h"
#include "common/transfer/refused.h"
#include "launcher/cli/follow/follower_impl.h"
#include "launcher/cli/follow/state_lines.h"
#include "launcher/cli/terminal/progress_bar.h"
#include "launcher/words/jobs/say_waits.h"

namespace lockstep::cli {

namespace {

constexpr Duration kLiveEvery = milliseconds(100);

}  // namespace

void Follower::Impl::on_control(const Envelope<ClientReply>& envelope) {
  lease.heard();
  if (lost_said) terminal.print_line("the launcher is back");
  lost_said = false;
  if (const auto* reply = std::get_if<JobReply>(&envelope.body)) return on_job(reply->job);
  if (const auto* update = std::get_if<JobUpdate>(&envelope.body)) return on_job(update->job);
  if (const auto* still = std::get_if<StillWatching>(&envelope.body))
    return on_still_watching(*still);
  if (const auto* reply = std::get_if<StatusReply>(&envelope.body))
    return on_launcher(reply->status.started);
  if (std::holds_alternative<Done>(envelope.body)) {
    cancel = FollowEnd::Cancel::agreed;  // only a cancel has this answer
    return;
  }
  const auto* refused = std::get_if<Refused>(&envelope.body);
  if (refused == nullptr) return;
  if (cancel == FollowEnd::Cancel::unanswered && envelope.reply_to == cancel_sequence) {
    cancel = FollowEnd::Cancel::agreed;  // the job ended meanwhile
    return;
  }
  lease.renewed(listening.total());  // renewed, so that it is not sent again at once
  if (!job) failure = make_error(refused->code, refused->message);
}

void Follower::Impl::on_still_watching(const StillWatching& still) {
  if (still.job != options.job) return;
  lease.renewed(listening.total());
  on_launcher(still.launcher_started);
}

void Follower::Impl::on_launcher(Instant started) {
  if (launcher_started && *launcher_started != started && !log_end) follow_logs();
  launcher_started = started;
}

// Shows notes, each once, even if several nodes report it.
void Follower::Impl::say_notes() {
  if (job->attempts.empty()) return;
  for (const PartView& part : job->attempts.back().parts)
    for (const std::string& note : part.notes)
      if (said_notes.insert(note).second)
        terminal.print_line(fmt::format("note of {}: {}", part.node_name, in_one_line(note)));
}

void Follower::Impl::say_found() {
  for (const std::string& line : found.on_job(*job)) terminal.print_line(line);
}

void Follower::Impl::on_job(const JobView& view) {
  if (view.spec.name != options.job.value) return;
  lease.renewed(listening.total());
  if (job && is_final(job->status)) return;  // an answer that was under way
  job = view;
  if (cancel == FollowEnd::Cancel::unanswered && view.status == JobStatus::cancel_requested)
    cancel = FollowEnd::Cancel::agreed;
  const Instant now = clock.now();
  if (options.beside != nullptr) options.beside->on_job(view);
  if (options.show_state) {
    say_notes();
    say_found();
    lines.on_job(view, now);
    tell_of_lost();
    show_state(now);
  }
  const bool is_new = view.attempts.empty();  // for a job that ran, somebody may replace the nodes
  if (view.in_vain && is_new && options.leave_in_vain && !in_vain) leave_in_vain();
  if (!is_final(view.status) || is_over) return;
  is_over = true;
  ended_at = listening.total();
}

// Shows the whole reason, also with --quiet: it ends with the remedy.
void Follower::Impl::leave_in_vain() {
  in_vain = true;
  terminal.clear_status();
  terminal.print_line(state_text(*job));
  terminal.print_line(fmt::format(
      "{} is canceled, because it would wait in vain; --wait-anyway waits", options.job.value));
  ask_to_cancel();
}

// Tells of lost outputs while the ranks run, when something can still be done.
void Follower::Impl::tell_of_lost() {
  if (is_final(job->status) || job->attempts.empty()) return;
  for (const PartView& part : job->attempts.back().parts)
    for (const CollectedOutput& output : part.outputs) {
      if (has_files(output) || output.problems.empty()) continue;
      std::string line =
          fmt::format("node {}: {}: {}", part.node_name, describe(output.kind, output.name),
                      in_one_line(output.problems.front()));
      if (told.insert(line).second) terminal.print_line(line);
    }
}

// Shows the state. On a terminal it is always shown in one line that is replaced; if it is too
// long, it is also printed in full, because a reason ends with the remedy. Elsewhere only important
// states are printed.
void Follower::Impl::show_state(Instant now) {
  const auto line = lines.take(now);
  const bool is_cut = job->status == JobStatus::queued && terminal.has_status_line() &&
                      !terminal.fits_status_line(state_text(*job));
  if (line && !in_vain && (is_cut || !terminal.has_status_line())) terminal.print_line(*line);
  if (!terminal.has_status_line()) return;
  if (is_final(job->status)) return terminal.clear_status();
  std::string text = state_text(*job);
  if (!job->attempts.empty())
    for (const auto& part : job->attempts.back().parts)
      if (!part.progress.empty() && !words::shows_progress(job->why, part.node_name, part.progress))
        text += fmt::format("; {}: {}", part.node_name, part.progress);
  terminal.progress(with_bars(text));
}

// Shows the states at intervals: a person can read only a few states a second.
void Follower::Impl::show_live(Instant now) {
  if (now < live_due) return;
  live_due = Instant::never();
  live_drawn = now;
  terminal.live(merge.live());
}

void Follower::Impl::on_bulk(const BulkEnvelope& envelope) {
  if (options.beside != nullptr && options.beside->on_bulk(envelope)) return;
  if (const auto* chunk = std::get_if<LogChunk>(&envelope.body)) return on_chunk(*chunk);
  if (const auto* end = std::get_if<LogEnd>(&envelope.body)) {
    log_end = end->status;
    order.release_all();
    return;
  }
  const auto* refused = std::get_if<BulkRefused>(&envelope.body);
  if (refused == nullptr) return;
  logs_refused = refused->for_now;
  if (!refused->for_now) failure = transfer::error_of(*refused);
}

void Follower::Impl::on_chunk(const LogChunk& chunk) {
  if (chunk.key.attempt.job != options.job) return;
  logged_at = heard_at = listening.total();
  has_logs = has_logs || !chunk.data.empty();
  ++burst;
  switch (order.add(chunk)) {
    case LogOrder::Outcome::gap: return follow_logs();
    case LogOrder::Outcome::taken:
      if (terminal.redraws()) live_due = std::min(live_due, live_drawn + kLiveEvery);
      break;
    case LogOrder::Outcome::seen_before: break;
  }
  if (++taken < kCredit / 2) return;
  BulkEnvelope envelope;
  envelope.body = LogCredit{taken};
  taken = 0;
  connection.send_bulk(std::move(envelope));
}

}  // namespace lockstep::cli
