#include "launcher/core/invariants.h"

#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <set>

#include "launcher/core/attempts/environment_locks.h"
#include "launcher/core/attempts/retry.h"
#include "launcher/core/pipelines/pipeline_invariants.h"
#include "launcher/core/queue/scheduler.h"

namespace lockstep::launcher {

namespace {

class Checker {
 public:
  explicit Checker(const State& state) : state_(state) {}

  std::vector<std::string> run() {
    for (const auto& [id, job] : state_.jobs()) check_job(job);
    for (const auto& [id, node] : state_.nodes()) check_node(node);
    for (const auto& [id, node] : state_.removed_nodes()) check_removed(id, node);
    for (const auto& [order, id] : state_.queue()) {
      const Job* job = state_.job(id);
      expect(job != nullptr && job->order == order, "queue", "holds jobs at their places");
    }
    for (const auto& [id, environment] : state_.environments()) check_environment(id, environment);
    check_usage();
    check_ended();
    check_index();
    for (const auto& [name, compute] : state_.computes().all()) check_machines(name, compute);
    for (const auto& [hash, token] : state_.tokens())
      expect(token.used <= token.uses, "token", "was used more often than it allows");
    return std::move(violations_);
  }

 private:
  void expect(bool holds, const std::string& what, std::string_view message) {
    if (!holds) violations_.push_back(fmt::format("{}: {}", what, message));
  }

  // Whether the target's machines may be taken away at any time; such a retry is never charged.
  bool is_of_low_priority(const Job& job) const {
    const Compute* compute = state_.computes().find(job.pool);
    return compute != nullptr && compute->spec.scale.tier == Tier::low_priority;
  }

  void check_job(const Job& job) {
    const std::string what = "job " + job.id.value;
    const bool queued = state_.queue().count(job.order) != 0;
    expect(queued == job.is_queued(), what, "is in the queue exactly while it waits uncanceled");
    expect(state_.unfinished().count(job.id) == (job.is_final() ? 0U : 1U), what,
           "is unfinished exactly until it is final");
    expect(job.waiting().waits_for.empty() || job.attempts.empty(), what,
           "waits for other jobs only until it is placed");
    for (const After& after : job.waiting().waits_for)
      expect(state_.dependents(after.job).count(job.order) != 0, what,
             "is known to the jobs that it waits for");
    expect(!job.waiting().at_head || !job.cancel_by, what,
           "leaves the head of its queue when it is canceled");
    expect(job.charged_retries <= job.spec.retry.max, what, "was retried more often than allowed");
    expect(job.uncharged_retries <= kMaxUnchargedRetries || is_of_low_priority(job), what,
           "was retried free too often");
    for (std::size_t i = 0; i < job.attempts.size(); ++i) {
      const Attempt& attempt = job.attempts[i];
      const bool last = i + 1 == job.attempts.size();
      expect(attempt.id.job == job.id && attempt.id.number == i + 1, what, "numbers 1, 2, …");
      const bool may_run = last && job.is_placed();
      expect(attempt.ended.has_value() != may_run, what, "runs its last attempt only");
      check_attempt(job, attempt);
    }
    if (job.steps)
      for (std::string& violation : check_pipeline(state_, job))
        violations_.push_back(std::move(violation));
    expect(is_known_to_pipeline(state_, job), what, "is the job that its pipeline knows");
    check_writes(job, what);
    if (job.finish()) check_end(job, what);
    check_events(job, what);
  }

  void check_events(const Job& job, const std::string& what) {
    const std::vector<Event>& events = job.events.events;
    expect(!events.empty() && events.front().kind == Event::Kind::submitted &&
               events.front().at == job.submitted,
           what, "begins with its submission");
    expect(events.size() <= kMaxEvents, what, "keeps a bounded list of events");
    for (std::size_t i = 1; i < events.size(); ++i)
      expect(events[i - 1].at <= events[i].at, what, "has events in order of time");
    const auto count = [&](Event::Kind kind) {
      return static_cast<std::size_t>(std::count_if(
          events.begin(), events.end(), [&](const Event& event) { return event.kind == kind; }));
    };
    expect(count(Event::Kind::finished) == (job.finish() ? 1U : 0U), what,
           "ends once, in its events");
    if (job.finish())
      expect(is_last(job, Event::Kind::finished), what, "has its verdict as its last event");
    if (job.events.left_out > 0) return;
    expect(count(Event::Kind::placed) == job.attempts.size(), what, "tells of each placement");
    const auto over = static_cast<std::size_t>(
        std::count_if(job.attempts.begin(), job.attempts.end(),
                      [](const Attempt& attempt) { return attempt.ended.has_value(); }));
    expect(count(Event::Kind::ended) == over, what, "tells of each attempt's end");
  }

  // Whether only events about the job's outputs may follow this one.
  static bool is_last(const Job& job, Event::Kind kind) {
    const std::vector<Event>& events = job.events.events;
    const auto last = std::find_if(events.rbegin(), events.rend(), [](const Event& event) {
      return event.kind != Event::Kind::written;
    });
    return last != events.rend() && last->kind == kind && last->at == job.finish()->at;
  }

  void check_writes(const Job& job, const std::string& what) {
    const auto waits = std::count_if(
        job.writes.begin(), job.writes.end(),
        [](const OutputWrite& write) { return write.state == OutputWrite::State::waiting; });
    expect(state_.unwritten().count(job.id) == (waits > 0 ? 1U : 0U), what,
           "is unwritten exactly while an output waits to be written");
    expect(job.steps || job.unwritten == waits, what, "counts its outputs that are not written");
    for (const OutputWrite& write : job.writes)
      expect(std::any_of(job.merged->begin(), job.merged->end(),
                         [&](const auto& one) { return one.name == write.output && one.tree; }),
             what, "writes what was merged");
    const bool is_kept = job.unwritten > 0 || !job.finish() || !job.spec.step.empty();
    const auto place = std::pair(job.finish() ? job.finish()->at : Instant{}, job.order);
    expect(state_.ended().count(place) == (is_kept ? 0U : 1U), what,
           "is left to retention when it has ended and nothing of it waits to be written");
  }

  void check_end(const Job& job, const std::string& what) {
    expect(job.logs_settled(), what, "is final before its logs are durable or given up");
    const bool completed = job.finish()->status == JobStatus::completed;
    expect(completed == (job.finish()->report.cause == Cause::completed), what,
           "has a status that agrees with its report");
    expect(completed == (job.finish()->report.exit_code == 0), what,
           "has an exit code that agrees with its status");
    if (job.finish()->status == JobStatus::canceled)
      expect(job.cancel_by || (job.attempts.empty() && !job.spec.queue.after.empty()), what,
             "is Canceled only when somebody asked, or a job before it failed");
    if (!completed || job.steps) return;
    expect(!job.attempts.empty(), what, "is Completed only after an attempt");
    if (job.attempts.empty()) return;
    for (const Part& part : job.attempts.back().parts)
      expect(part.finished() && !part.failed(), what, "is Completed only when every rank exited 0");
  }

  void check_attempt(const Job& job, const Attempt& attempt) {
    const std::string what = "attempt " + to_string(attempt.id);
    expect(attempt.size() == job.spec.resources.instance_count, what, "is placed whole");
    std::set<NodeId> nodes;
    Attempt::Tally tally;
    for (int i = 0; i < attempt.size(); ++i) {
      const Part& part = attempt.parts[static_cast<std::size_t>(i)];
      expect(nodes.insert(part.node).second, what, "has one part on a node at most");
      tally.prepared += part.at_least(PartState::prepared) ? 1 : 0;
      tally.running += part.at_least(PartState::running) ? 1 : 0;
      tally.over += part.at_least(PartState::collecting) || part.gone() != nullptr ? 1 : 0;
      tally.ended += part.ended() ? 1 : 0;
      tally.failed += part.failed() ? 1 : 0;
      tally.assigned += part.assigned() ? 1 : 0;
      tally.asked += part.lock_request ? 1 : 0;
      expect(!part.finished() || part.exit() != nullptr, what, "has a report of each end");
      const Node* node = state_.node(part.node);
      if (node == nullptr) {
        expect(!part.assigned() && part.ended(), what, "holds nothing on a node that was removed");
        continue;
      }
      const auto index = node->parts.find(attempt.id);
      expect(part.assigned() == (index != node->parts.end()), what, "is known to its nodes");
      if (index != node->parts.end()) expect(index->second == i, what, "has its rank on its nodes");
    }
    expect(tally == attempt.tally, what, "counts its parts rightly");
    if (attempt.ended) expect(tally.ended == attempt.size(), what, "ends when all its parts ended");
    if (attempt.gang) check_gang(attempt, what);
  }

  void check_gang(const Attempt& attempt, const std::string& what) {
    expect(attempt.gang->members.size() == attempt.parts.size(), what, "has all members");
    for (std::size_t i = 0; i < attempt.parts.size() && i < attempt.gang->members.size(); ++i) {
      expect(attempt.gang->members[i].node == attempt.parts[i].node, what, "has members by rank");
      const Part& part = attempt.parts[i];
      expect(part.at_least(PartState::prepared) || part.gone(), what,
             "starts when all are prepared");
    }
  }

  // Checks that some part is the solver if a part waits for a lock.
  void check_environment(const EnvironmentId& id, const Environment& environment) {
    for (const std::uint64_t order : environment.live) {
      const Job& job = *state_.job(state_.submitted().at(order));
      expect(job.spec.run_as == id.account, "job " + job.id.value, "uses its own account's locks");
      expect(job.family == id.family, "job " + job.id.value, "uses its own family's locks");
      if (!job.is_placed() || job.cancel_by || job.attempts.back().doomed) continue;
      const Attempt& attempt = job.attempts.back();
      const auto may_ask = [](const Part& part) {
        return part.assigned() && !part.at_least(PartState::prepared) && !part.lock_request;
      };
      if (std::any_of(attempt.parts.begin(), attempt.parts.end(), may_ask)) continue;
      for (const Part& part : attempt.parts) {
        if (!part.assigned() || part.at_least(PartState::prepared)) continue;
        const std::string& platform = part.lock_request->platform;
        const bool waits = environment.locks.count(platform) == 0;
        expect(!waits || solver_of(state_, id, platform).has_value(),
               "attempt " + to_string(attempt.id), "waits for a lock that somebody solves");
      }
    }
  }

  void check_index() {
    JobIndex counted;
    for (const auto& [order, id] : state_.submitted()) {
      const Job& job = *state_.job(id);
      counted.submitted(order, job.spec.submitter);
      if (state_.queue().count(order) != 0) counted.queued(order);
      if (job.finish()) counted.finished(order, job.finish()->status);
    }
    expect(counted == state_.index(), "the index of jobs", "has them as they are");
  }

  void check_ended() {
    EndedJobs counted;
    for (const auto& [id, job] : state_.jobs()) {
      if (!job.finish()) continue;
      counted.count(job.spec.submitter, size_of(job));
      if (job.spec.step.empty() && job.unwritten == 0)
        counted.add(job.spec.submitter, {job.finish()->at, job.order}, id, state_.gives(job));
    }
    expect(counted == state_.ended_jobs(), "the jobs that have ended", "are those of each user");
  }

  void check_usage() {
    UsageTable counted;
    SourceTable sources;
    for (const auto& [id, job] : state_.jobs()) {
      Usage usage{.spec_bytes = spec_bytes(job.spec)};
      const JobSize size = size_of(job);
      usage.job_files = size.logs.count + size.outputs.count;
      if (job.finish())
        usage.kept_jobs = state_.ended().count({job.finish()->at, job.order}) ? 1 : 0;
      for (const JobSource& source : job.sources)
        for (const QuotaHolder& holder : holders_of(job.spec))
          if (sources.add(holder, source)) counted.add(holder, {.job_files = source.size.count});
      usage.queued = state_.queue().count(job.order) != 0 ? 1 : 0;
      for (const Attempt& attempt : job.attempts) {
        usage.running += attempt.ended ? 0 : 1;
        for (const Part& part : attempt.parts) {
          if (part.ended()) continue;
          usage.nodes += 1;
          usage.cpus += static_cast<std::int64_t>(part.allotment.cpus.size());
          usage.gpus += static_cast<std::int64_t>(part.allotment.gpus.size());
        }
      }
      counted.add(job.spec, usage);
    }
    expect(sources == state_.sources(), "the sources of jobs",
           "are those of each user and project");
    count_versions(counted);
    check_shares();
    expect(counted == state_.usage(), "usage", "is what the jobs of each user and project take");
  }

  void count_versions(UsageTable& counted) {
    std::map<NameKey, std::size_t> versions;
    const auto add = [&](const NameKey& key, const std::string& by, std::int64_t bytes,
                         const std::optional<Bytes>& files) {
      const OwnedName* name = state_.names().find(key.kind, key.name);
      expect(name != nullptr, describe(key), "has an owner");
      if (name == nullptr) return;
      ++versions[key];
      counted.add(holders_of(by, name->project),
                  {.versions = 1,
                   .version_bytes = bytes,
                   .version_files = static_cast<std::int64_t>(files.value_or(Bytes{}).count)});
    };
    for (const auto& [name, all] : state_.registered())
      for (const EnvironmentVersion& one : all)
        add({NameKind::environment, name}, one.by, version_bytes(one.environment), one.files);
    for (const auto& [key, name] : state_.assets().names())
      for (const AssetVersion& one : name.versions)
        add({name_kind_of(key.first), key.second}, one.by, version_bytes(one.asset), one.files);
    std::size_t all = 0;
    for (const auto& [key, name] : state_.names().all()) {
      all += name.versions;
      expect(versions[key] == name.versions, describe(key), "counts its versions");
      if (name.versions == 0) counted.add(holders_of(name.owner, name.project), {.versions = 1});
    }
    expect(all == state_.names().versions(), "names", "count all their versions");
  }

  void check_shares() {
    std::map<std::pair<std::string, std::string>, Amounts> held;
    for (const auto& [id, job] : state_.jobs()) {
      for (const Attempt& attempt : job.attempts) {
        for (const Part& part : attempt.parts) {
          if (part.ended()) continue;
          Amounts& sum = held[{job.pool, job.spec.submitter}];
          sum.cpus += static_cast<double>(part.allotment.cpus.size());
          sum.gpus += static_cast<double>(part.allotment.gpus.size());
          sum.memory += static_cast<double>(part.allotment.memory.count);
        }
      }
    }
    for (const auto& [name, pool] : state_.shares().pools())
      for (const auto& [user, use] : pool.users)
        expect(use.held == held[{name, user}], "share of " + user,
               "is what its jobs hold in pool " + name);
  }

  void check_machines(const std::string& target, const Compute& compute) {
    expect(compute.history.size() <= kMaxComputeEvents, "target " + target,
           "keeps a bounded history");
    for (const auto& [name, machine] : compute.machines) {
      const std::string what = "machine " + name + " of " + target;
      if (machine.node.value == 0) continue;
      const Node* node = state_.node(machine.node);
      expect(node != nullptr && node->machine == name && node->pool == target, what,
             "has a node that is its own");
    }
  }

  void check_removed(NodeId id, const RemovedNode& node) {
    const std::string what = "removed node " + node.name;
    expect(state_.node(id) == nullptr, what, "is not a node any more");
    expect(id < state_.next_node_id(), what, "has an id that is not given again");
    expect(state_.node_with_key(node.key) == nullptr, what, "has a key that is nobody's");
    expect(state_.removed_with_key(node.key) == &node, what, "is known by its key");
  }

  void check_node(const Node& node) {
    const std::string what = "node " + node.name;
    expect(state_.node_with_key(node.key) == &node, what, "is found by its key");
    expect(state_.node_called(node.name) == &node, what, "has a name of its own");
    expect(node.id < state_.next_node_id(), what, "has an id that is not given again");
    const Machine* machine = state_.computes().find_machine(node.pool, node.machine);
    if (!node.machine.empty())
      expect(machine != nullptr && machine->node == node.id, what,
             "is recorded as the node of its machine");
    std::set<int> cpus, gpus;
    int holders = 0;
    bool whole = false;
    Node::Use use;
    for (const auto& [id, rank] : node.parts) {
      const Part& part = state_.attempt(id)->parts[static_cast<std::size_t>(rank)];
      if (part.ended()) continue;
      ++holders;
      whole = whole || part.whole;
      use.parts += 1;
      use.wholes += part.whole ? 1 : 0;
      use.isolated += state_.job(id.job)->spec.resources.isolated ? 1 : 0;
      use.cpus += static_cast<int>(part.allotment.cpus.size());
      use.gpus += static_cast<int>(part.allotment.gpus.size());
      use.memory.count += part.allotment.memory.count;
      for (int cpu : part.allotment.cpus)
        expect(cpus.insert(cpu).second, what, fmt::format("gives cpu {} twice", cpu));
      for (int gpu : part.allotment.gpus)
        expect(gpus.insert(gpu).second, what, fmt::format("gives gpu {} twice", gpu));
    }
    expect(use == node.use, what, "counts rightly what is held of it");
    expect(!node.waits_for_approval || node.parts.empty(), what, "waits for approval without work");
    expect(!whole || holders == 1, what, "shares what was given as a whole");
    if (!node.lost) return;
    expect(holders == 0, what, "is LOST, but has parts of attempts that have not ended");
  }

  const State& state_;
  std::vector<std::string> violations_;
};

}  // namespace

std::vector<std::string> check_invariants(const State& state) { return Checker(state).run(); }

}  // namespace lockstep::launcher
