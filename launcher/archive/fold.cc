#include "launcher/archive/fold.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "launcher/archive/accounting.h"
#include "launcher/state/targets/computes.h"

namespace lockstep::archive {

namespace {

using launcher::AttemptEnded;
using launcher::AttemptPlaced;
using launcher::JobAnnotated;
using launcher::JobArchived;
using launcher::JobDeleted;
using launcher::JobFinished;
using launcher::JobShared;
using launcher::JobSubmitted;
using launcher::PartChanged;
using launcher::PartGone;

// A duration of the launcher's clock, which may have been set back between two of its starts.
std::int64_t milliseconds_between(Instant from, Instant to) {
  return std::max<std::int64_t>(0, (to - from) / milliseconds(1));
}

// The node may make them up: more than so many ranks, each for so long, is no number to add.
std::int64_t cpu_time_of(const NodeExitReport& exit) {
  constexpr std::int64_t kMost = std::int64_t{1} << 50;
  std::int64_t sum = 0;
  for (const RankExit& rank : exit.ranks) {
    const std::int64_t used = rank.cpu_time / milliseconds(1);
    sum = std::min(kMost, sum + std::clamp<std::int64_t>(used, 0, kMost));
  }
  return sum;
}

}  // namespace

SubmittedAs submitted_as(const launcher::State& state, const JobId& id) {
  SubmittedAs as;
  const launcher::Job* const job = state.job(id);
  if (job == nullptr) return as;
  as.order = job->order;
  as.child_of = job->child_of;
  as.shared = job->shared;
  const launcher::Job* const pipeline =
      job->spec.step.empty() ? nullptr : state.job(job->spec.parent);
  as.archived = job->archived || (pipeline != nullptr && pipeline->archived);
  return as;
}

struct Fold::Visitor {
  Fold& fold;
  const Instant at;
  const SubmittedAs& as;
  std::vector<Change>& changes;

  template <typename Other>
  void operator()(const Other&) const {}

  void operator()(const JobSubmitted& fact) const {
    const JobSpec& spec = fact.spec;
    Open open;
    open.job.order = as.order;
    open.job.job = fact.job;
    open.job.owner = spec.submitter;
    open.job.project = spec.project;
    open.job.target = launcher::target_of(spec);
    open.job.parent = spec.is_child() ? as.child_of : spec.parent;
    open.job.step = spec.step;
    open.job.archived = as.archived;
    open.job.shared = as.shared;
    open.job.submitted = at;
    open.job.nodes = spec.resources.instance_count;
    set_texts(open.job, {spec.display_name, spec.description, spec.experiment_name, spec.tags});
    if (fold.define_) open.definition = fold.define_(spec);
    if (!open.job.parent.value.empty()) fold.below_[open.job.parent].insert(fact.job);
    fold.open_.insert_or_assign(fact.job, std::move(open));
  }

  static void set_texts(EndedJob& job, JobChanged::Texts texts) {
    job.title = std::move(texts.title);
    job.description = std::move(texts.description);
    job.experiment = std::move(texts.experiment);
    job.tags = std::move(texts.tags);
  }

  // `change` of the open job, and of its open steps; the archive has those that have ended.
  template <typename Set>
  void with_steps(const JobId& job, JobChanged change, const Set& set) const {
    if (Open* open = fold.find(job)) set(open->job);
    if (const auto below = fold.below_.find(job); below != fold.below_.end())
      for (const JobId& step : below->second)
        if (Open* open = fold.find(step); open != nullptr && !open->job.step.empty())
          set(open->job);
    changes.emplace_back(std::move(change));
  }
  void operator()(const JobArchived& fact) const {
    with_steps(fact.job, {fact.job, fact.archived, {}, {}},
               [&](EndedJob& job) { job.archived = fact.archived; });
  }
  void operator()(const JobShared& fact) const {
    with_steps(fact.job, {fact.job, {}, fact.shared, {}},
               [&](EndedJob& job) { job.shared = fact.shared; });
  }
  void operator()(const JobAnnotated& fact) const {
    JobChanged::Texts texts{fact.display_name, fact.description, fact.experiment_name, fact.tags};
    if (Open* open = fold.find(fact.job)) return set_texts(open->job, std::move(texts));
    changes.emplace_back(JobChanged{fact.job, {}, {}, std::move(texts)});
  }

  void operator()(const AttemptPlaced& fact) const {
    Open* const open = fold.find(fact.attempt.job);
    if (open == nullptr) return;
    if (open->attempts.empty()) open->job.started = at;
    Attempt attempt{fact.attempt.incarnation, at, {}, false};
    for (const launcher::PartPlacement& part : fact.parts)
      attempt.parts.push_back({part.node, part.allotment, false});
    open->attempts.push_back(std::move(attempt));
  }

  void used(const EndedJob& job, std::int64_t day, const Use& use) const {
    changes.emplace_back(Used{{day, job.owner, job.project, job.target}, use});
  }
  // The first time that the part is known to hold nothing any more.
  void end_part(const AttemptId& id, NodeId node, std::int64_t used_cpu_ms) const {
    Attempt* const attempt = fold.find(id);
    if (attempt == nullptr) return;
    const auto part = std::find_if(attempt->parts.begin(), attempt->parts.end(),
                                   [&](const Part& one) { return one.node == node; });
    if (part == attempt->parts.end() || part->ended) return;
    part->ended = true;
    auto days = use_of(part->allotment, attempt->placed, at);
    if (used_cpu_ms > 0) days[day_of(at)].used_cpu_ms += used_cpu_ms;
    for (const auto& [day, use] : days) used(fold.find(id.job)->job, day, use);
  }
  void operator()(const PartChanged& fact) const {
    if (fact.report.state != PartState::finished) return;
    end_part(fact.attempt, fact.node, fact.report.exit ? cpu_time_of(*fact.report.exit) : 0);
  }
  void operator()(const PartGone& fact) const { end_part(fact.attempt, fact.node, 0); }

  void operator()(const AttemptEnded& fact) const {
    Attempt* const attempt = fold.find(fact.attempt);
    if (attempt == nullptr || std::exchange(attempt->ended, true)) return;
    Use use;
    use.attempts = 1;
    used(fold.find(fact.attempt.job)->job, day_of(at), use);
  }

  void operator()(const JobFinished& fact) const {
    Open* const open = fold.find(fact.job);
    if (open == nullptr) return;
    EndedJob& job = open->job;
    job.status = fact.status;
    job.ended = at;
    job.attempts = static_cast<int>(open->attempts.size());
    job.cause = to_string(fact.report.cause);
    job.why = fact.report.why;
    Use use;
    use.jobs = 1;
    use.waited_ms = milliseconds_between(job.submitted, open->attempts.empty() ? at : job.started);
    used(job, day_of(at), use);
    if (!open->definition.empty()) job.definition = sha256(open->definition);
    leave_parent(job);
    changes.emplace_back(JobEnded{std::move(job), std::move(open->definition)});
    fold.open_.erase(fact.job);
  }
  void leave_parent(const EndedJob& job) const {
    const auto below = fold.below_.find(job.parent);
    if (below == fold.below_.end()) return;
    below->second.erase(job.job);
    if (below->second.empty()) fold.below_.erase(below);
  }

  // The jobs that its attempts submitted go on without it; a pipeline's steps are deleted after it.
  void operator()(const JobDeleted& fact) const {
    if (auto below = fold.below_.extract(fact.job); !below.empty()) {
      std::set<JobId> steps;
      for (const JobId& job : below.mapped()) {
        Open& open = *fold.find(job);
        if (open.job.step.empty())
          open.job.parent = {};
        else
          steps.insert(job);
      }
      if (!steps.empty()) fold.below_.emplace(fact.job, std::move(steps));
    }
    changes.emplace_back(JobGone{fact.job});
  }
};

Fold::Open* Fold::find(const JobId& job) {
  const auto found = open_.find(job);
  return found == open_.end() ? nullptr : &found->second;
}

Fold::Attempt* Fold::find(const AttemptId& id) {
  Open* const open = find(id.job);
  if (open == nullptr || id.number == 0 || id.number > open->attempts.size()) return nullptr;
  Attempt& attempt = open->attempts[id.number - 1];
  return attempt.incarnation == id.incarnation ? &attempt : nullptr;
}

void Fold::see(const launcher::StampedFact& fact, const SubmittedAs& as,
               std::vector<Change>* changes) {
  std::visit(Visitor{*this, fact.at, as, *changes}, fact.fact);
}

}  // namespace lockstep::archive
