// What the oracle knows of queues: who may go before whom, what a job waits for, and that jobs
// which go before the head do not delay it.

#include <algorithm>
#include <optional>

#include "common/domain/why/jobs/waits.h"
#include "tests/sim/oracle.h"
#include "tests/sim/plan.h"

namespace lockstep::sim {

using launcher::Attempt;
using launcher::Job;
using launcher::Part;

namespace {

// As docs/decisions/042 has them, and CoreConfig::stop_grace of the simulation.
constexpr Duration kGrace = seconds(3), kPreparing = seconds(10), kBuilding = minutes(10);

// The job that had to wait when this one went before it; "": none.
std::string passed(const launcher::AttemptPlaced& fact) {
  for (const Why& why : fact.why)
    if (const auto* went = why.as<WentBeforeJob>()) return went->job.value;
  return "";
}

bool asks_the_same(const JobSpec& a, const JobSpec& b) {
  return a.resources == b.resources && a.timeout == b.timeout &&
         a.environment.has_value() == b.environment.has_value();
}

bool waits_for_more_than_nodes(const Job& job, Instant now) {
  const auto fenced = [](const Attempt& attempt) {
    return std::any_of(attempt.parts.begin(), attempt.parts.end(),
                       [](const Part& part) { return part.fenced(); });
  };
  return job.waiting().not_before > now || !job.waiting().waits_for.empty() ||
         std::any_of(job.attempts.begin(), job.attempts.end(), fenced);
}

Duration preparation_of(const JobSpec& spec) { return spec.environment ? kBuilding : kPreparing; }

}  // namespace

void Oracle::check_order(const Job& job, const launcher::AttemptPlaced& fact) {
  const JobSpec& asked = asked_[job.id];
  for (const auto& [order, id] : state_.queue()) {
    const Job& other = *state_.job(id);
    if (id == job.id) continue;
    const bool same_pool = asks_for_lab(id) == asks_for_lab(job.id);
    if (order < job.order && !same_pool) world_.count("launcher:another_pool_goes_on");
    if (!same_pool || waits_for_more_than_nodes(other, decided_)) continue;
    if (!asks_the_same(asked_[id], asked)) continue;
    const bool quotas_decide =
        !state_.principals().quotas().empty() && asked_[id].submitter != asked.submitter;
    if (!quotas_decide && must_go_before(other, job, fact))
      world_.violate("oracle:order", fmt::format("{} overtook {}, which asks for the same",
                                                 to_string(fact.attempt), id.value));
  }
}

// Users take turns: how many jobs of its user are looked at in the turns before. Those that are
// older than a head of the user go with the head.
std::size_t Oracle::turn_of(const Job& job) {
  std::size_t turn = 0;
  for (const auto& [order, id] : state_.queue()) {
    if (order >= job.order) break;
    const Job& older = *state_.job(id);
    if (asked_[id].submitter != asked_[job.id].submitter || older.pool != job.pool ||
        asked_[id].queue.priority != asked_[job.id].queue.priority)
      continue;
    turn = older.waiting().at_head ? 0 : turn + 1;
  }
  return turn;
}

bool Oracle::must_go_before(const Job& other, const Job& job, const launcher::AttemptPlaced& fact) {
  const JobSpec &mine = asked_[job.id], &theirs = asked_[other.id];
  if (theirs.queue.priority != mine.queue.priority) {
    world_.count("launcher:priority_decides");
    return theirs.queue.priority > mine.queue.priority;
  }
  if (theirs.submitter == mine.submitter) return other.order < job.order;
  // The head keeps its place, and lets the older jobs of its user pass.
  const auto& queue = state_.queue();
  const bool is_led =
      job.waiting().at_head || std::any_of(queue.begin(), queue.end(), [&](const auto& item) {
        const Job& head = *state_.job(item.second);
        return head.waiting().at_head && item.first > job.order &&
               asked_[head.id].submitter == mine.submitter &&
               asked_[head.id].queue.priority == mine.queue.priority;
      });
  if (is_led || !passed(fact).empty()) return false;
  const auto share_of = [&](const Job& one) {
    return state_.shares().share_of(job.pool, asked_[one.id].submitter, decided_);
  };
  world_.count("launcher:share_decides");
  if (other.waiting().at_head) return true;
  return turn_of(other) <= turn_of(job) &&
         std::pair(share_of(other), other.order) < std::pair(share_of(job), job.order);
}

// ---- other jobs, and a time
// ----------------------------------------------------------------------

void Oracle::judge(const launcher::JobPriorityChanged& fact) {
  if (updated_.count({fact.job, fact.priority}) == 0)
    world_.violate("oracle:priority", fact.job.value + " got a priority that nobody asked for");
  asked_[fact.job].queue.priority = fact.priority;
}

// What is asked for is added to what the job was submitted with, however often it is asked.
void Oracle::judge(const launcher::JobAnnotated& fact) {
  std::map<std::string, std::string> tags = asked_[fact.job].tags;
  tags["noted"] = "yes";
  const JobSpec& asked = asked_[fact.job];
  if (fact.description != kNote || fact.tags != tags || fact.display_name != asked.display_name ||
      fact.experiment_name != asked.experiment_name)
    world_.violate("oracle:texts", fact.job.value + " got texts that nobody asked for");
}

void Oracle::check_submission(const launcher::JobSubmitted& fact) {
  const QueueSettings& asked = asked_[fact.job].queue;
  const Instant expected = asked.delay > Duration(0) ? decided_ + asked.delay : asked.not_before;
  if (fact.spec.queue.not_before != expected)
    world_.violate("oracle:begin", fact.job.value + " does not wait for its time");
  if (fact.spec.submitter != asked_[fact.job].submitter)
    world_.violate("oracle:submitter",
                   fact.job.value + " belongs to another user than asked for it");
  runs_after_[fact.job].clear();
  for (const After& after : asked.after) {
    const Job* other = state_.job(after.job);
    if (other == nullptr) {
      world_.violate("oracle:after", fact.job.value + " is to run after a job that is not there");
      continue;
    }
    runs_after_[fact.job].push_back({other->order, after.when});
  }
}

bool Oracle::is_met(const RunsAfter& after) const {
  const auto end = ends_.find(after.order);
  if (end == ends_.end()) return false;
  return after.when == AfterWhen::ended || end->second == JobStatus::completed;
}

void Oracle::check_after(const Job& job, const launcher::AttemptPlaced& fact) {
  for (const RunsAfter& after : runs_after_[job.id])
    if (!is_met(after))
      world_.violate("oracle:after", to_string(fact.attempt) + " was placed before its time");
}

bool Oracle::can_never_run(const JobId& job) {
  const auto& all = runs_after_[job];
  return std::any_of(all.begin(), all.end(), [&](const RunsAfter& after) {
    return ends_.count(after.order) != 0 && !is_met(after);
  });
}

// ---- backfill
// ------------------------------------------------------------------------------------

// When the part gives its resources back at the latest, by the limit that was asked for.
std::optional<Instant> Oracle::end_of(const Job& job, const Attempt& attempt, const Part& part) {
  const JobSpec& asked = asked_[job.id];
  if (job.cancel_by || attempt.doomed) return decided_ + kGrace;
  if (!asked.timeout) return std::nullopt;
  Instant start = attempt.placed + preparation_of(asked);
  if (part.at_least(PartState::running) && part.report->started.ns != 0)
    start = std::clamp(part.report->started, attempt.placed, start);
  else if (!part.at_least(PartState::running))
    start = std::max(start, decided_);
  return std::max(start + *asked.timeout + kGrace, decided_);
}

std::vector<Oracle::Holding> Oracle::holdings_of(const launcher::Node& node) {
  std::vector<Holding> all;
  for (const auto& [id, rank] : node.parts) {
    const Attempt& attempt = *state_.attempt(id);
    const Part& part = attempt.parts[static_cast<std::size_t>(rank)];
    if (part.ended()) continue;
    all.push_back({end_of(*state_.job(id.job), attempt, part), part.allotment.cpus.size(),
                   part.allotment.memory, part.whole});
  }
  return all;
}

// Whether the node has room for a part of the job when all that ends until then has ended.
bool Oracle::has_room(const JobSpec& asked, const launcher::Node& node,
                      const std::vector<Holding>& holdings, Instant then) const {
  const bool wants_whole = asked.resources.isolated || !asked.resources.cpus;
  std::size_t cpus = 0;
  std::uint64_t memory = 0;
  for (const Holding& holding : holdings) {
    if (holding.end && *holding.end <= then) continue;
    if (holding.whole || wants_whole) return false;
    cpus += holding.cpus;
    memory += holding.memory.count;
  }
  return !asked.resources.cpus ||
         (cpus + static_cast<std::size_t>(*asked.resources.cpus) <= node.inventory.cpus.size() &&
          memory + asked.resources.memory.value_or(Bytes{}).count <= node.inventory.memory.count);
}

// When the job can start at the latest; `more`: what another job takes besides.
std::optional<Instant> Oracle::start_of(const Job& job, const std::map<NodeId, Holding>& more) {
  std::map<NodeId, std::vector<Holding>> holdings;
  std::set<Instant> ends{decided_};
  for (const auto& [id, node] : state_.nodes()) {
    if (node.pool != job.pool || !node.session) continue;
    holdings[id] = holdings_of(node);
    if (const auto extra = more.find(id); extra != more.end())
      holdings[id].push_back(extra->second);
    for (const Holding& holding : holdings[id])
      if (holding.end) ends.insert(*holding.end);
  }
  const JobSpec& asked = asked_[job.id];
  for (const Instant end : ends) {
    const auto count = std::count_if(holdings.begin(), holdings.end(), [&](const auto& item) {
      return has_room(asked, *state_.node(item.first), item.second, end);
    });
    if (count >= asked.resources.instance_count) return end;
  }
  return std::nullopt;
}

// Its agent may still be ending an attempt that the launcher gave up.
bool Oracle::gave_up_there(NodeId node) const {
  for (const auto& [id, job] : state_.jobs())
    for (const launcher::Attempt& attempt : job.attempts)
      for (const launcher::Part& part : attempt.parts)
        if (part.node == node && part.gone()) return true;
  return false;
}

// Whether the launcher can place on every node of the pool; of one that was lost once, the oracle
// does not know it.
bool Oracle::all_usable(const std::string& pool) {
  for (const auto& [id, node] : state_.nodes())
    if (node.pool == pool && (node.waits_for_approval || gave_up_there(id))) return false;
  if (calm_) return true;
  if (!cloned_.empty()) return false;
  const auto& nodes = state_.nodes();
  return std::all_of(nodes.begin(), nodes.end(), [&](const auto& item) {
    const launcher::Node& node = item.second;
    if (node.pool != pool) return true;
    const Heard& heard = heard_[node.id];
    // What was heard in the same turn may have come after the decision.
    const bool is_alive =
        heard.since_start && polled_ - heard.polled < kHeardLately && heard.lately_from < decided_;
    return is_alive && node.session && !node.lost && !node.drain && !node.notice &&
           !node.waits_for_approval && !heard.low_disk_lately && given_up_.count(node.id) == 0;
  });
}

void Oracle::check_backfill(const Job& job, const launcher::AttemptPlaced& fact) {
  const std::string name = passed(fact);
  if (name.empty()) return;
  world_.count("launcher:backfill");
  const Job* head = state_.job(JobId(name));
  if (head == nullptr || !head->is_waiting())
    return world_.violate("oracle:backfill", name + " does not wait, and yet a job went before it");
  if (!all_usable(job.pool)) return;
  world_.count("launcher:backfill_checked");
  const JobSpec& asked = asked_[job.id];
  std::map<NodeId, Holding> more;
  std::optional<Instant> end;
  if (asked.timeout) end = decided_ + preparation_of(asked) + *asked.timeout + kGrace;
  for (const auto& part : fact.parts)
    more[part.node] = {end, part.allotment.cpus.size(), part.allotment.memory,
                       part.whole.value_or(false)};
  const auto before = start_of(*head, {}), after = start_of(*head, more);
  if (before && (!after || *after > *before))
    world_.violate("oracle:backfill",
                   to_string(fact.attempt) + " delays " + name + ", before which it went");
}

}  // namespace lockstep::sim
