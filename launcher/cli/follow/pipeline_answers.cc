#include "launcher/cli/follow/pipeline_follower.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/domain/messages/bulk_protocol.h"
#include "launcher/cli/base/step_choice.h"
#include "launcher/cli/follow/pipeline_follower_impl.h"
#include "launcher/cli/follow/state_lines.h"
#include "launcher/cli/follow/step_lines.h"

namespace lockstep::cli {

namespace {

constexpr Duration kLiveEvery = milliseconds(100);
constexpr Duration kClocksDiffer = seconds(1);
constexpr std::size_t kWidestName = 24;

}  // namespace

void PipelineFollower::Impl::on_control(const Envelope<ClientReply>& envelope) {
  lease.heard();
  if (lost_said) terminal.print_line("the launcher is back");
  lost_said = false;
  if (const auto* reply = std::get_if<JobReply>(&envelope.body)) return on_job(reply->job);
  if (const auto* update = std::get_if<JobUpdate>(&envelope.body)) return on_job(update->job);
  if (const auto* reply = std::get_if<StatusReply>(&envelope.body))
    return on_launcher(reply->status.started);
  if (const auto* still = std::get_if<StillWatching>(&envelope.body))
    return on_launcher(still->launcher_started);
  if (std::holds_alternative<Done>(envelope.body)) {
    cancel = FollowEnd::Cancel::agreed;  // only a cancel has this answer
    return;
  }
  if (const auto* refused = std::get_if<Refused>(&envelope.body))
    on_refused(*refused, envelope.reply_to);
}

void PipelineFollower::Impl::on_refused(const Refused& refused, std::uint64_t reply_to) {
  if (cancel == FollowEnd::Cancel::unanswered && reply_to == cancel_sequence) {
    cancel = FollowEnd::Cancel::agreed;  // the job ended meanwhile
    return;
  }
  lease.renewed(listening.total());
  if (!job) failure = make_error(refused.code, refused.message);
}

void PipelineFollower::Impl::on_launcher(Instant started) {
  if (launcher_started && *launcher_started != started && turn) ask_logs(turn->job);
  launcher_started = started;
}

void PipelineFollower::Impl::on_job(const JobView& view) {
  if (view.spec.name != options.job.value) return on_step(view);
  lease.renewed(listening.total());
  if (job && is_final(job->status)) return;  // an answer that was under way
  const Instant now = clock.now();
  job = view;
  for (std::size_t i = 0; i < view.steps.size(); ++i) {
    const StepView& step = view.steps[i];
    name_width = std::max(name_width, std::min(step.name.size(), kWidestName));
    const bool is_reused = step.phase == StepPhase::reused;
    if ((is_reused && !options.reused_logs) || step.job.value.empty()) continue;
    step_of.emplace(step.job, i);
    // if the step's state is shown, its line names the step
    const bool is_told = !is_reused || options.show_state;
    if (!is_told && told.insert(step.name).second)
      terminal.print_line(reused_text(step, "log this is"));
  }
  logs.on_steps(view.steps, now);
  if (logs.in_order()) expect_lines();
  go_on_if_past_is_read();
  leave_in_vain();
  if (options.show_state && !in_vain) {
    for (StepLine& line : lines.on_steps(view.steps, now)) held.push_back(std::move(line));
    if (terminal.has_status_line() && !is_final(view.status)) terminal.progress(state_text(view));
  }
  if (is_final(view.status)) {
    is_over = true;
    progressed = listening.total();
    terminal.clear_status();
  }
  say_lines();
}

void PipelineFollower::Impl::on_step(const JobView& view) {
  const JobId step(view.spec.name);
  if (step_of.count(step) == 0 || is_over) return;
  for (const std::string& line : found[step].on_job(view)) terminal.print_line(line);
}

// Shows the whole reason, also with --quiet: it ends with the remedy.
void PipelineFollower::Impl::leave_in_vain() {
  if (!options.leave_in_vain || in_vain || is_final(job->status)) return;
  const auto line = in_vain_line(job->steps);
  if (!line) return;
  in_vain = true;
  terminal.clear_status();
  terminal.print_line(*line);
  terminal.print_line(fmt::format(
      "{} is canceled, because it would wait in vain; --wait-anyway waits", options.job.value));
  ask_to_cancel();
}

// Expects lines of steps. For a new node, the offset of the clock may not be known yet when its
// first lines come.
void PipelineFollower::Impl::expect_lines() {
  for (const StepView& step : job->steps)
    if (!logs.is_past_read(step.job))
      order.expect(step.job, {std::max<std::int64_t>(step.started.ns - kClocksDiffer.count(), 0)});
}

void PipelineFollower::Impl::on_bulk(const BulkEnvelope& envelope) {
  if (!turn || envelope.reply_to != turn->sequence) return;  // the answer to an earlier question
  turn->heard = listening.total();
  if (const auto* chunk = std::get_if<LogChunk>(&envelope.body)) return on_chunk(*chunk);
  if (const auto* end = std::get_if<LogEnd>(&envelope.body)) {
    const auto status = job_status_from(end->status);
    return end_turn({turn->any, false, !status || is_final(*status)});
  }
  if (const auto* refused = std::get_if<BulkRefused>(&envelope.body)) on_logs_refused(*refused);
}

void PipelineFollower::Impl::on_chunk(const LogChunk& chunk) {
  if (chunk.key.attempt.job != turn->job) return;
  switch (order.add(chunk)) {
    case LogOrder::Outcome::gap: return ask_logs(turn->job);
    case LogOrder::Outcome::taken:
      turn->any = true;
      if (terminal.redraws()) live_due = std::min(live_due, live_drawn + kLiveEvery);
      break;
    case LogOrder::Outcome::seen_before: break;
  }
  if (++turn->chunks >= chunks_of_turn()) end_turn({true, true, false});
}

// Handles a refusal. A log that was refused for now is requested again when its silence is noticed.
void PipelineFollower::Impl::on_logs_refused(const BulkRefused& refused) {
  if (refused.for_now) return;
  terminal.print_line(fmt::format("no logs of job {}: {}", turn->job.value, refused.message));
  end_turn({false, false, true});
}

}  // namespace lockstep::cli
