// Applies facts about jobs, pipelines and their outputs to the state.

#include <algorithm>
#include <utility>

#include "common/domain/why/jobs/events.h"
#include "launcher/state/applier.h"
#include "launcher/state/jobs/step_key.h"

namespace lockstep::launcher {

void State::Applier::operator()(const JobSubmitted& fact) const {
  Job job = new_job(fact);
  add_to_tables(job);
  record(job, Event::Kind::submitted);
  join_pipeline(job);
  join_parent(job);
  if (job.spec.environment) {
    job.environment = {digest_of(job.spec.environment->definition), job.spec.run_as, job.family};
    Environment& environment = state.environments_[*job.environment];
    environment.jobs.insert(job.order);
    environment.live.insert(job.order);
  }
  state.jobs_.add(fact.job, std::move(job));
}

Job State::Applier::new_job(const JobSubmitted& fact) const {
  Job job;
  job.id = fact.job;
  job.order = fact.order;
  if (job.order == 0)
    job.order = state.submitted_.empty() ? 1 : state.submitted_.rbegin()->first + 1;
  job.incarnation = fact.incarnation;
  job.family = fact.family;
  job.submission = fact.submission;
  job.spec = fact.spec;
  job.pool = state.computes_.pool_of(job.spec.compute);
  job.first_checkpoint = fact.checkpoint;
  job.submitted = at;
  job.sources = fact.sources;
  if (job.spec.is_pipeline()) {
    job.phase = Job::RunsSteps{};
    job.steps.emplace(*job.spec.pipeline);
  } else {
    job.phase = Job::Waiting{job.spec.queue.after, job.spec.queue.not_before, false, {}};
  }
  return job;
}

// Enters the job into every table by which jobs are found or counted, except the table of names.
void State::Applier::add_to_tables(const Job& job) const {
  for (const After& after : job.waiting().waits_for) state.dependents_[after.job].insert(job.order);
  state.submitted_.emplace(job.order, job.id);
  state.index_.submitted(job.order, job.spec.submitter);
  if (job.is_waiting()) state.enqueue(job);
  state.usage_.add(job.spec, {.spec_bytes = spec_bytes(job.spec)});
  hold_sources(job);
  state.unfinished_.insert(job.id);
  state.computes_.count(job.spec, {.unfinished = 1});
  if (!job.submission.empty()) state.submissions_.emplace(job.submission, job.id);
  each_named_version(job.spec, [&](NameKind kind, std::string version) {
    state.named_by_[{kind, std::move(version)}].insert(job.order);
  });
}

void State::Applier::hold_sources(const Job& job) const {
  for (const JobSource& source : job.sources)
    for (const QuotaHolder& holder : holders_of(job.spec))
      if (state.sources_.add(holder, source))
        state.usage_.add(holder, {.job_files = source.size.count});
}

void State::Applier::release_sources(const Job& job) const {
  for (const JobSource& source : job.sources)
    for (const QuotaHolder& holder : holders_of(job.spec))
      if (state.sources_.remove(holder, source))
        state.usage_.add(holder, {.job_files = 0 - source.size.count});
}

void State::Applier::operator()(const CancelRequested& fact) const {
  Job& job = state.job_ref(fact.job);
  job.cancel_by = fact.by;
  leave_head(job);
  record(job, Event::Kind::cancel_requested);
  state.dequeue(job);
  if (job.is_placed()) state.touch_nodes(job.attempts.back());
  solver_may_change(job);
}

void State::Applier::operator()(const JobPriorityChanged& fact) const {
  Job& job = state.job_ref(fact.job);
  job.spec.queue.priority = fact.priority;
  leave_head(job);
  record(job, Event::Kind::updated, {}, {}, PriorityIs{fact.priority, fact.by});
}

void State::Applier::operator()(const DependencyMet& fact) const {
  state.meet(state.job_ref(fact.job), fact.after);
}

void State::Applier::operator()(const JobAtHead& fact) const {
  auto* waiting = std::get_if<Job::Waiting>(&state.job_ref(fact.job).phase);
  if (waiting == nullptr) return;
  if (waiting->at_head || waiting->head_since.ns == 0) waiting->head_since = at;
  waiting->at_head = true;
}

void State::Applier::leave_head(Job& job) {
  if (auto* waiting = std::get_if<Job::Waiting>(&job.phase)) waiting->at_head = false;
}

void State::Applier::operator()(const JobShared& fact) const {
  Job& job = state.job_ref(fact.job);
  job.shared = fact.shared;
  if (job.steps)
    for (const JobId& step : job.steps->jobs()) state.job_ref(step).shared = fact.shared;
}

void State::Applier::operator()(const JobAnnotated& fact) const {
  Job& job = state.job_ref(fact.job);
  state.usage_.add(job.spec, {.spec_bytes = -spec_bytes(job.spec)});
  job.spec.display_name = fact.display_name;
  job.spec.description = fact.description;
  job.spec.experiment_name = fact.experiment_name;
  job.spec.tags = fact.tags;
  state.usage_.add(job.spec, {.spec_bytes = spec_bytes(job.spec)});
}

void State::Applier::operator()(const JobFinished& fact) const {
  Job& job = state.job_ref(fact.job);
  for (Attempt& attempt : job.attempts)  // no rank waits for them any more
    for (Part& part : attempt.parts) state.unfence(part, attempt.id);
  for (const After& after : std::vector<After>(job.waiting().waits_for)) state.meet(job, after.job);
  job.phase = Job::Finish{fact.status, fact.report, at};
  record(job, Event::Kind::finished);
  state.dequeue(job);
  state.index_.finished(job.order, fact.status);
  state.unfinished_.erase(job.id);
  each_named_version(job.spec, [&](NameKind kind, std::string version) {
    const auto named = state.named_by_.find({kind, std::move(version)});
    if (named == state.named_by_.end()) return;
    named->second.erase(job.order);
    if (named->second.empty()) state.named_by_.erase(named);
  });
  state.computes_.count(job.spec, {.unfinished = -1});
  if (job.environment) state.environments_[*job.environment].live.erase(job.order);
  note_ended(job);
  leave_pipeline(job);
  state.ended_.count(job.spec.submitter, size_of(job));
  // The account may be created before the user's next job, so each node is asked again.
  if (fact.report.cause == Cause::account_missing || fact.report.cause == Cause::canceled)
    for (auto& [id, node] : state.nodes_) node.cannot_run_as.erase({job.spec.run_as, job.id});
}

void State::Applier::operator()(const OutputsMerged& fact) const {
  Job& job = state.job_ref(fact.job);
  job.merged = fact.outputs;
  for (const OutputSpec& output : job.spec.outputs) {
    const auto merged =
        std::find_if(fact.outputs.begin(), fact.outputs.end(),
                     [&](const MergedOutput& one) { return one.name == output.name; });
    if (output.remote.empty() || merged == fact.outputs.end() || !merged->tree) continue;
    job.writes.push_back({output.name, path_of(output, job.id.value)});
  }
  if (job.writes.empty()) return;
  state.unwritten_.insert(job.id);
  count_unwritten(job, static_cast<int>(job.writes.size()));
}

void State::Applier::operator()(const OutputWritten& fact) const {
  Job& job = state.job_ref(fact.job);
  OutputWrite& write = write_ref(job, fact.output);
  write = {write.output, write.to, OutputWrite::State::written, 0, "", at};
  record(job, Event::Kind::written, {}, {}, OutputIsWritten{write.output, write.to});
  write_settled(job);
}

void State::Applier::operator()(const OutputNotWritten& fact) const {
  Job& job = state.job_ref(fact.job);
  OutputWrite& write = write_ref(job, fact.output);
  write.tries = fact.tries;
  write.why_data = fact.why;
  write.at = fact.again;
  if (fact.again.ns != 0) return;
  write.state = OutputWrite::State::given_up;
  write.at = at;
  record(job, Event::Kind::written, {}, {},
         OutputGivenUp{write.output, write.to, write.tries, write.why_data});
  write_settled(job);
}

OutputWrite& State::Applier::write_ref(Job& job, const std::string& output) {
  const auto found = std::find_if(job.writes.begin(), job.writes.end(),
                                  [&](const OutputWrite& write) { return write.output == output; });
  CHECK(found != job.writes.end(), "a fact names an output that is not to be written");
  return *found;
}

// Counts the outputs that wait to be written, also for the pipeline: it stays until the outputs
// of its steps are written.
void State::Applier::count_unwritten(Job& job, int more) const {
  job.unwritten += more;
  if (state.steps_around(job) != nullptr) state.job_ref(job.spec.parent).unwritten += more;
}

void State::Applier::write_settled(Job& job) const {
  count_unwritten(job, -1);
  if (job.unwritten == 0) state.unwritten_.erase(job.id);
  note_ended(job);
  if (state.steps_around(job) != nullptr) note_ended(state.job_ref(job.spec.parent));
}

void State::Applier::note_ended(const Job& job) const {
  if (!job.finish() || !job.spec.step.empty() || job.unwritten > 0) return;
  const EndedJobs::Place place{job.finish()->at, job.order};
  if (state.ended_.add(job.spec.submitter, place, job.id, state.gives(job)))
    state.usage_.add(job.spec, {.kept_jobs = 1});
}

void State::Applier::operator()(const StepReused& fact) const {
  Job& job = state.job_ref(fact.job);
  job.steps->reused(fact.step, fact.from, fact.outputs);
  record(job, Event::Kind::step, {}, {}, StepReusesJob{fact.step, fact.from});
}

void State::Applier::operator()(const StepSkipped& fact) const {
  Job& job = state.job_ref(fact.job);
  job.steps->skipped(fact.step, fact.why);
  record(job, Event::Kind::step, {}, {}, StepLeftOut{fact.step, fact.why});
}

// Adds the job of a step to its pipeline, unless the pipeline was deleted before the jobs of its
// steps.
void State::Applier::join_pipeline(Job& job) const {
  if (job.spec.step.empty()) return;
  job.reuse_key = reuse_key(job.spec);
  Steps* steps = state.steps_around(job);
  if (steps == nullptr) return;
  steps->submitted(job.spec.step, job.id);
  Job& parent = state.job_ref(job.spec.parent);
  job.shared = parent.shared;
  job.child_of = parent.child_of;
  job.family = parent.family;
  record(parent, Event::Kind::step, {}, {}, StepHasJob{job.spec.step, job.id});
}

// Adds a child to its parent. If the parent was deleted, a later job may have its name.
void State::Applier::join_parent(Job& job) const {
  if (!job.spec.is_child()) return;
  const Job* parent = state.job(job.spec.parent);
  const bool is_there = parent != nullptr && parent->order < job.order;
  if (job.family == 0) job.family = is_there ? family_below(*parent) : job.order;
  if (!is_there) return;
  job.child_of = parent->id;
  state.children_[parent->id].insert(job.order);
}

// The family of jobs that an attempt of this job submits.
std::uint64_t State::Applier::family_below(const Job& job) const {
  if (job.family != 0) return job.family;
  const Job* pipeline = job.spec.step.empty() ? nullptr : state.job(job.spec.parent);
  return pipeline != nullptr ? pipeline->order : job.order;
}

// Removes the job from its parent's children. Its own children continue without a parent.
void State::Applier::leave_family(const Job& job) const {
  if (const auto left = state.children_.extract(job.id); !left.empty())
    for (const std::uint64_t order : left.mapped()) forget_parent(state.submitted_.at(order));
  if (!job.spec.is_child() || job.child_of.value.empty()) return;
  const auto siblings = state.children_.find(job.child_of);
  siblings->second.erase(job.order);
  if (siblings->second.empty()) state.children_.erase(siblings);
}

void State::Applier::forget_parent(const JobId& child) const {
  Job& job = state.job_ref(child);
  job.child_of = {};
  if (!job.steps) return;
  for (const JobId& step : job.steps->jobs()) state.job_ref(step).child_of = {};
}

void State::Applier::leave_pipeline(const Job& job) const {
  const bool completed = job.finish()->status == JobStatus::completed;
  if (completed && job.reuse_key && job.merged && is_whole(*job.merged))
    state.reusable_[{job.family, *job.reuse_key}].insert(job.order);
  if (Steps* steps = state.steps_around(job))
    steps->ended(job.spec.step, completed, job.merged.value_or(std::vector<MergedOutput>()));
}

// Whether no output is missing. An output that could not be kept may be kept the next time, so such
// a job is not reused.
bool State::Applier::is_whole(const std::vector<MergedOutput>& outputs) {
  return std::none_of(outputs.begin(), outputs.end(), [](const MergedOutput& output) {
    return !output.tree && !output.problems.empty();
  });
}

void State::Applier::forget_reusable(const Job& job) const {
  if (!job.reuse_key) return;
  const auto known = state.reusable_.find({job.family, *job.reuse_key});
  if (known == state.reusable_.end()) return;
  known->second.erase(job.order);
  if (known->second.empty()) state.reusable_.erase(known);
}

// Deletes a job. If it does not exist, compaction has dropped its other facts.
void State::Applier::operator()(const JobDeleted& fact) const {
  if (const Job* found = state.jobs_.find(fact.job)) {
    const Job& job = *found;
    CHECK(job.is_final(), "a job can be deleted only after it has ended");
    state.ended_.discount(job.spec.submitter, size_of(job));
    state.usage_.add(
        job.spec, {.spec_bytes = -spec_bytes(job.spec), .job_files = 0 - files_of(size_of(job))});
    release_sources(job);
    if (state.ended_.remove(job.spec.submitter, {job.finish()->at, job.order}))
      state.usage_.add(job.spec, {.kept_jobs = -1});
    forget_reusable(job);
    leave_family(job);
    state.unwritten_.erase(job.id);
    state.submitted_.erase(job.order);
    state.index_.deleted(job.order, job.spec.submitter, job.finish()->status);
    state.submissions_.erase(job.submission);
    if (job.environment) {
      state.environments_[*job.environment].jobs.erase(job.order);
      state.drop_environment(*job.environment);
    }
    for (auto& [id, node] : state.nodes_) node.cannot_run_as.erase({job.spec.run_as, job.id});
    state.jobs_.remove(fact.job);
  }
  const DeletedJob deleted{fact.submission, fact.incarnation};
  state.incarnation_ = std::max(state.incarnation_, state.deleted_.add(fact.job, deleted));
}

}  // namespace lockstep::launcher
