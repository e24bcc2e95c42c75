#include "launcher/state/state.h"

#include <algorithm>

#include "common/base/check.h"

namespace lockstep::launcher {

bool Part::failed() const {
  // A revoked node may have made up its report.
  if (gone() != nullptr && gone()->revoked) return true;
  if (!finished()) return gone() != nullptr;
  if (exit() == nullptr || exit()->cause != Cause::completed) return true;
  return std::any_of(exit()->ranks.begin(), exit()->ranks.end(),
                     [](const RankExit& rank) { return rank.cause != Cause::completed; });
}

bool Job::logs_settled() const {
  return std::all_of(attempts.begin(), attempts.end(),
                     [](const Attempt& attempt) { return attempt.tally.assigned == 0; });
}

bool Job::has_asked() const {
  return environment && !attempts.empty() && attempts.back().tally.asked > 0;
}

JobSize size_of(const Part& part) {
  JobSize size;
  for (const CollectedOutput& output : part.so_far) size.outputs.count += output.size.count;
  bool has_checkpoint = false;  // true: the final report has the checkpoint that was saved
  if (part.finished()) {
    if (const NodeExitReport* exit = part.exit()) {
      size.logs.count += exit->log_times.count;
      for (const LogSize& log : exit->logs)
        size.logs.count += log.stdout_bytes + log.stderr_bytes + log.environment_bytes;
    }
    for (const CollectedOutput& output : part.report->outputs) {
      size.outputs.count += output.size.count;
      has_checkpoint = has_checkpoint || (part.saved && output.tree == part.saved->checkpoint.tree);
    }
    const Part::Released* released = part.released();
    if (released != nullptr && released->lost_logs)
      size.logs.count -= std::min(size.logs.count, released->lost_logs->count);
  }
  if (part.saved && !has_checkpoint) size.outputs.count += part.saved->checkpoint.size.count;
  return size;
}

JobSize size_of(const Job& job) {
  JobSize size;
  for (const Attempt& attempt : job.attempts) {
    for (const Part& part : attempt.parts) {
      const JobSize of_part = size_of(part);
      size.logs.count += of_part.logs.count;
      size.outputs.count += of_part.outputs.count;
    }
  }
  return size;
}

EndedJobs::Gives State::gives(const Job& job) const {
  JobSize size = size_of(job);
  EndedJobs::Gives gives;
  gives.ran = !job.attempts.empty();
  if (job.steps) {
    for (const Steps::Step& step : job.steps->all()) gives.ran = gives.ran || step.reused;
    for (const JobId& id : job.steps->jobs()) {
      const Job* step = this->job(id);
      if (step == nullptr) continue;
      const JobSize of_step = size_of(*step);
      size.logs.count += of_step.logs.count;
      size.outputs.count += of_step.outputs.count;
      gives.ran = gives.ran || !step->attempts.empty();
    }
  }
  gives.logs = size.logs.count > 0;
  gives.outputs = size.outputs.count > 0;
  return gives;
}

namespace {

struct StatusOf {
  const Job& job;

  JobStatus operator()(const Job::Waiting&) const { return JobStatus::queued; }
  JobStatus operator()(const Job::RunsSteps&) const { return JobStatus::running; }
  JobStatus operator()(const Job::Placed&) const {
    const Attempt& attempt = job.attempts.back();
    const Attempt::Tally& tally = attempt.tally;
    if (tally.over == attempt.size()) return JobStatus::finalizing;
    if (tally.running == attempt.size()) return JobStatus::running;
    if (attempt.gang || tally.prepared == attempt.size()) return JobStatus::starting;
    return JobStatus::preparing;
  }
  JobStatus operator()(const Job::Ending&) const { return JobStatus::finalizing; }
  JobStatus operator()(const Job::Finish& finish) const { return finish.status; }
};

}  // namespace

JobStatus Job::status() const {
  if (cancel_by && !is_final()) return JobStatus::cancel_requested;
  return std::visit(StatusOf{*this}, phase);
}

const Job::Waiting& Job::waiting() const {
  static const Waiting kForNothing{};
  const auto* waiting = std::get_if<Waiting>(&phase);
  return waiting == nullptr ? kForNothing : *waiting;
}

const Why& Job::requeued_because() const {
  static const Why kNot;
  const auto last = std::find_if(attempts.rbegin(), attempts.rend(), [](const Attempt& attempt) {
    return static_cast<bool>(attempt.retried);
  });
  return last == attempts.rend() ? kNot : last->retried;
}

const Job* State::job(const JobId& id) const { return jobs_.find(id); }

const Attempt* State::attempt(const AttemptId& id) const {
  const Job* job = this->job(id.job);
  if (job == nullptr || id.number == 0 || id.number > job->attempts.size()) return nullptr;
  const Attempt& attempt = job->attempts[id.number - 1];
  return attempt.id.incarnation == id.incarnation ? &attempt : nullptr;
}

const std::string* State::label_of(const Node& node, const std::string& key) const {
  if (const auto own = node.labels.find(key); own != node.labels.end()) return &own->second;
  const Compute* compute = computes_.find(node.pool);
  if (compute == nullptr) return nullptr;
  const auto found = compute->spec.labels.find(key);
  return found == compute->spec.labels.end() ? nullptr : &found->second;
}

NodeLabels State::labels_of(const Node& node) const {
  NodeLabels labels = node.labels;
  if (const Compute* compute = computes_.find(node.pool))
    labels.insert(compute->spec.labels.begin(), compute->spec.labels.end());
  return labels;
}

const Node* State::node(NodeId id) const {
  const auto it = nodes_.find(id);
  return it == nodes_.end() ? nullptr : &it->second;
}

NodeLabels State::kept_labels(const std::string& machine_id, const std::string& name) const {
  const auto kept = labels_of_removed_.find({machine_id, name});
  return kept == labels_of_removed_.end() ? NodeLabels() : kept->second;
}

const std::set<NodeId>& State::nodes_on_host(const std::string& host_id) const {
  static const std::set<NodeId> kNone;
  const auto found = hosts_.find(host_id);
  return found == hosts_.end() ? kNone : found->second;
}

void State::leave_host(const Node& node) {
  const auto host = hosts_.find(node.inventory.host_id);
  if (host == hosts_.end()) return;
  host->second.erase(node.id);
  if (host->second.empty()) hosts_.erase(host);
  const auto isolated = isolated_.find(node.inventory.host_id);
  if (isolated == isolated_.end()) return;
  isolated->second.erase(node.id);
  if (isolated->second.empty()) isolated_.erase(isolated);
}

const Node* State::isolated_beside(const Node& node) const {
  if (isolated_.empty() || node.inventory.host_id.empty()) return nullptr;
  const auto host = isolated_.find(node.inventory.host_id);
  if (host == isolated_.end()) return nullptr;
  for (const NodeId other : host->second)
    if (other != node.id && displaced_by(*this->node(other)) == nullptr) return this->node(other);
  return nullptr;
}

const Node* State::displaced_by(const Node& node) const {
  for (const NodeId other : nodes_on_host(node.inventory.host_id)) {
    const Node& there = *this->node(other);
    const bool is_earlier = there.host_claim.since < node.host_claim.since;
    if (is_earlier && !there.lost && there.host_claim.group != node.host_claim.group) return &there;
  }
  return nullptr;
}

// Updates isolated_ after a change of the node's host or of its number of isolated parts.
void State::note_isolated(const Node& node) {
  const std::string& host = node.inventory.host_id;
  if (host.empty()) return;
  if (node.use.isolated > 0) {
    isolated_[host].insert(node.id);
    return;
  }
  const auto known = isolated_.find(host);
  if (known == isolated_.end()) return;
  known->second.erase(node.id);
  if (known->second.empty()) isolated_.erase(known);
}

const Node* State::node_with_key(const PublicKey& key) const {
  const auto it = keys_.find(key);
  return it == keys_.end() ? nullptr : node(it->second);
}

const Node* State::node_called(const std::string& name_or_id) const {
  const auto it = names_.find(name_or_id);
  if (it != names_.end()) return node(it->second);
  const bool digits = !name_or_id.empty() && name_or_id.size() < 19 &&
                      name_or_id.find_first_not_of("0123456789") == std::string::npos;
  return digits ? node(NodeId(std::stoull(name_or_id))) : nullptr;
}

const Job* State::job_of_submission(const std::string& submission) const {
  const auto it = submissions_.find(submission);
  return it == submissions_.end() ? nullptr : job(it->second);
}

const Job* State::reusable(std::uint64_t family, const Digest& reuse_key) const {
  const auto it = reusable_.find({family, reuse_key});
  return it == reusable_.end() ? nullptr : job(submitted_.at(*it->second.rbegin()));
}

Steps* State::steps_around(const Job& job) {
  if (job.spec.step.empty()) return nullptr;
  Job* parent = jobs_.find(job.spec.parent);
  return parent == nullptr || !parent->steps ? nullptr : &*parent->steps;
}

const Part* State::assigned_part(const AttemptId& id, NodeId node) const {
  const Node* holder = this->node(node);
  if (holder == nullptr) return nullptr;
  const auto it = holder->parts.find(id);
  if (it == holder->parts.end()) return nullptr;
  return &attempt(id)->parts[static_cast<std::size_t>(it->second)];
}

const RemovedNode* State::removed_with_key(const PublicKey& key) const {
  const auto it = revoked_.find(key);
  return it == revoked_.end() ? nullptr : &removed_.at(it->second);
}

std::string State::node_name(NodeId id) const {
  if (const Node* node = this->node(id)) return node->name;
  const auto removed = removed_.find(id);
  return removed != removed_.end() ? removed->second.name : "node " + std::to_string(id.value);
}

Job& State::job_ref(const JobId& id) {
  Job* job = jobs_.find(id);
  CHECK(job != nullptr, "a fact speaks of a job that was never submitted");
  return *job;
}

Attempt& State::attempt_ref(const AttemptId& id) {
  Job& job = job_ref(id.job);
  CHECK(id.number >= 1 && id.number <= job.attempts.size() &&
            job.attempts[id.number - 1].id.incarnation == id.incarnation,
        "a fact speaks of an attempt that was never placed");
  return job.attempts[id.number - 1];
}

Node& State::node_ref(NodeId id) {
  const auto it = nodes_.find(id);
  CHECK(it != nodes_.end(), "a fact speaks of a node that never joined");
  return it->second;
}

Part& State::part_ref(Attempt& attempt, NodeId node) {
  const Node& holder = node_ref(node);
  const auto index = holder.parts.find(attempt.id);
  if (index != holder.parts.end()) return attempt.parts[static_cast<std::size_t>(index->second)];
  const auto it = std::find_if(attempt.parts.begin(), attempt.parts.end(),
                               [&](const Part& part) { return part.node == node; });
  CHECK(it != attempt.parts.end(), "a fact speaks of a part on a node outside the attempt");
  return *it;
}

void State::enqueue(const Job& job) {
  if (!queue_.emplace(job.order, job.id).second) return;
  index_.queued(job.order);
  usage_.add(job.spec, {.queued = 1});
  computes_.count(job.spec, {.queued = 1});
}

void State::dequeue(const Job& job) {
  if (queue_.erase(job.order) == 0) return;
  index_.left_queue(job.order);
  usage_.add(job.spec, {.queued = -1});
  computes_.count(job.spec, {.queued = -1});
}

void State::meet(Job& job, const JobId& after) {
  if (auto* waiting = std::get_if<Job::Waiting>(&job.phase))
    std::erase_if(waiting->waits_for, [&](const After& one) { return one.job == after; });
  const auto dependents = dependents_.find(after);
  if (dependents == dependents_.end()) return;
  dependents->second.erase(job.order);
  if (dependents->second.empty()) dependents_.erase(dependents);
}

void State::each_older(std::uint64_t before, const std::set<std::uint64_t>* among,
                       const std::function<bool(const Job&)>& visit) const {
  if (among != nullptr) {
    for (auto it = std::make_reverse_iterator(among->lower_bound(before)); it != among->rend();
         ++it)
      if (!visit(*jobs_.find(submitted_.at(*it)))) return;
    return;
  }
  for (auto it = std::make_reverse_iterator(submitted_.lower_bound(before));
       it != submitted_.rend(); ++it)
    if (!visit(*jobs_.find(it->second))) return;
}

const std::set<std::uint64_t>& State::children(const JobId& job) const {
  static const std::set<std::uint64_t> kNone;
  const auto found = children_.find(job);
  return found == children_.end() ? kNone : found->second;
}

const std::set<std::uint64_t>& State::dependents(const JobId& job) const {
  static const std::set<std::uint64_t> kNone;
  const auto found = dependents_.find(job);
  return found == dependents_.end() ? kNone : found->second;
}

void State::touch_nodes(const Attempt& attempt) {
  for (const Part& part : attempt.parts)
    if (part.assigned()) ++node_ref(part.node).revision;
}

// Updates the tables; called right after `part` has stopped being assigned.
void State::unassign(Attempt& attempt, Part& part) {
  Node& node = node_ref(part.node);
  if (node.parts.erase(attempt.id) == 0) return;
  ++node.revision;
  --attempt.tally.assigned;
}

void State::unfence(Part& part, const AttemptId& attempt) {
  if (!part.fenced()) return;
  std::get<Part::Gone>(part.standing).fenced_until = {};
  const auto there = fenced_.find(part.node);
  if (there == fenced_.end()) return;
  there->second.erase(attempt);
  if (there->second.empty()) fenced_.erase(there);
}

const Environment* State::environment(const EnvironmentId& id) const {
  const auto it = environments_.find(id);
  return it == environments_.end() ? nullptr : &it->second;
}

std::vector<EnvironmentId> State::environments_of(const Digest& definition) const {
  std::vector<EnvironmentId> found;
  for (auto it = environments_.lower_bound({definition, ""});
       it != environments_.end() && it->first.definition == definition; ++it)
    found.push_back(it->first);
  return found;
}

const EnvironmentVersion* State::registered(const std::string& name,
                                            const std::string& version) const {
  const auto it = registered_.find(name);
  if (it == registered_.end()) return nullptr;
  const std::vector<EnvironmentVersion>& all = it->second;
  const OwnedName* owned = owned_names_.find(NameKind::environment, name);
  const auto is_wanted = [&](const EnvironmentVersion& known) {
    return version.empty() ? !known.archived && counts(known.foreign, known.by, *owned)
                           : known.environment.spec.version == version;
  };
  const auto found = std::find_if(all.rbegin(), all.rend(), is_wanted);
  return found == all.rend() ? nullptr : &*found;
}

const std::set<std::uint64_t>& State::jobs_with(NameKind kind, const std::string& version) const {
  static const std::set<std::uint64_t> kNone;
  const auto found = named_by_.find({kind, version});
  return found == named_by_.end() ? kNone : found->second;
}

void State::touch_environment(const EnvironmentId& id) {
  for (const std::uint64_t order : environments_[id].live) {
    const Job& job = job_ref(submitted_.at(order));
    if (job.is_placed()) touch_nodes(job.attempts.back());
  }
}

void State::drop_environment(const EnvironmentId& id) {
  const auto it = environments_.find(id);
  if (it == environments_.end() || !it->second.jobs.empty()) return;
  const bool is_named = named_.count(id.definition) != 0 && id.family == 0;
  if (it->second.locks.empty() || !is_named) environments_.erase(it);
}

}  // namespace lockstep::launcher
