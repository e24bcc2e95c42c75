#include "launcher/core/explain/events.h"

#include <string>

#include "common/domain/why/jobs/ends.h"
#include "common/domain/why/jobs/events.h"
#include "common/domain/why/jobs/orders.h"

namespace lockstep::launcher {

namespace {

constexpr std::size_t kNodesInText = 8;

PlacedOn nodes_of(const State& state, const Attempt& attempt) {
  PlacedOn placed;
  for (const Part& part : attempt.parts) {
    if (placed.nodes.size() < kNodesInText)
      placed.nodes.push_back(state.node_name(part.node));
    else
      ++placed.more;
  }
  return placed;
}

Why end_of(const ExitReport& report) {
  return report.why ? report.why : Why(EndedFor{report.cause});
}

// The attempt's first failure. When the other ranks were stopped, not all nodes had reported; the
// verdict is later and knows all failures.
Why first_failure_of(const Attempt& attempt) {
  if (!attempt.doomed) return {};
  const bool is_judged = attempt.ended && attempt.ended->cause != Cause::canceled;
  return is_judged ? attempt.ended->why : attempt.doomed->report.why;
}

Why end_of(const Job::Finish& finish) {
  const bool is_plain = !finish.report.why || finish.report.why.is<AllRanksCompleted>();
  if (finish.status == JobStatus::completed && is_plain) return JobIs{finish.status, {}};
  return JobIs{finish.status, end_of(finish.report)};
}

Why why_of(const State& state, const Attempt& attempt, Event::Kind kind) {
  switch (kind) {
    case Event::Kind::placed: return nodes_of(state, attempt);
    case Event::Kind::preparing: return NodesBegin{};
    case Event::Kind::prepared: return NodesAreReady{attempt.size()};
    case Event::Kind::connecting: return NodesConnect{attempt.size()};
    case Event::Kind::running: return RanksStarted{};
    case Event::Kind::failed: return first_failure_of(attempt);
    case Event::Kind::ranks_ended: return RanksEnded{};
    case Event::Kind::ended: return attempt.ended ? end_of(*attempt.ended) : Why();
    case Event::Kind::submitted:
    case Event::Kind::cancel_requested:
    case Event::Kind::updated:
    case Event::Kind::step:
    case Event::Kind::part_gone:
    case Event::Kind::collected:
    case Event::Kind::requeued:
    case Event::Kind::finished:
    case Event::Kind::written:
    case Event::Kind::waits:
    case Event::Kind::node_unknown:
    case Event::Kind::node_heard:
    case Event::Kind::logs_wait:
    case Event::Kind::logs_go_on:
    case Event::Kind::lock_refused:
    case Event::Kind::limit_reached:
    case Event::Kind::not_kept:
    case Event::Kind::logs_lost:
    case Event::Kind::found:
    case Event::Kind::hang:
    case Event::Kind::found_over:
    case Event::Kind::signaled: break;
  }
  return {};
}

Why why_of(const State& state, const Job& job, const Event& event) {
  if (event.why) return event.why;
  switch (event.kind) {
    case Event::Kind::submitted: return DoneBy{AskedBy{job.spec.submitter}};
    case Event::Kind::cancel_requested: return DoneBy{job.cancel_by.value_or(Why())};
    case Event::Kind::finished: return job.finish() ? end_of(*job.finish()) : Why();
    case Event::Kind::updated:
    case Event::Kind::step:
    case Event::Kind::placed:
    case Event::Kind::preparing:
    case Event::Kind::prepared:
    case Event::Kind::connecting:
    case Event::Kind::running:
    case Event::Kind::part_gone:
    case Event::Kind::failed:
    case Event::Kind::ranks_ended:
    case Event::Kind::collected:
    case Event::Kind::ended:
    case Event::Kind::written:
    case Event::Kind::requeued:
    case Event::Kind::waits:
    case Event::Kind::node_unknown:
    case Event::Kind::node_heard:
    case Event::Kind::logs_wait:
    case Event::Kind::logs_go_on:
    case Event::Kind::lock_refused:
    case Event::Kind::limit_reached:
    case Event::Kind::not_kept:
    case Event::Kind::logs_lost:
    case Event::Kind::found:
    case Event::Kind::hang:
    case Event::Kind::found_over:
    case Event::Kind::signaled: break;
  }
  // Attempt numbers are unique within the job. The ids of its attempts also have an incarnation,
  // which events lack, if the name was used before or the launcher was restored.
  const bool is_known = event.attempt != 0 && event.attempt <= job.attempts.size();
  return is_known ? why_of(state, job.attempts[event.attempt - 1], event.kind) : Why();
}

}  // namespace

std::vector<JobEvent> events_of(const State& state, const Job& job, const Notes& notes,
                                Instant since) {
  std::vector<JobEvent> events;
  const auto tell = [&](const Event& event) {
    if (event.at < since) return;
    events.push_back({event.at, std::string(to_string(event.kind)), event.attempt,
                      event.node.value == 0 ? "" : state.node_name(event.node),
                      why_of(state, job, event)});
  };
  const std::vector<Notes::Note> none;
  const auto* of_job = notes.of(owner_of_notes(job));
  auto note = of_job == nullptr ? none.begin() : of_job->begin();
  const auto end = of_job == nullptr ? none.end() : of_job->end();
  for (std::size_t i = 0; i < job.events.events.size(); ++i) {
    const std::uint64_t number = i < kFirstEvents ? i : i + job.events.left_out;
    for (; note != end && note->behind <= number; ++note) tell(note->event);
    tell(job.events.events[i]);
  }
  for (; note != end; ++note) tell(note->event);
  return events;
}

}  // namespace lockstep::launcher
