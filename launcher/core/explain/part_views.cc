#include "launcher/core/explain/part_views.h"

#include <fmt/format.h>
#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "launcher/core/attempts/environment_locks.h"
#include "launcher/core/attempts/reports.h"

namespace lockstep::launcher {

namespace {

constexpr std::string_view kAsSentBefore =
    "the kept version is the one that the node sent before the ranks ended";

// Adds the version that was sent earlier, for each output that the final report could not keep.
void add_sent_before(const Part& part, std::vector<CollectedOutput>& outputs) {
  for (CollectedOutput& output : outputs) {
    const CollectedOutput* sent = has_files(output) ? nullptr : same_output(part.so_far, output);
    if (sent == nullptr) continue;
    std::vector<std::string> problems = std::move(output.problems);
    output = *sent;
    output.problems = std::move(problems);
    output.problems.emplace_back(kAsSentBefore);
  }
}

// The outputs of the part so far, or at its end. A lost node's checkpoint and earlier outputs are
// known too, because it sent them before it was lost.
std::vector<CollectedOutput> outputs_of(const Part& part,
                                        const std::vector<CollectedOutput>* fresh) {
  std::vector<CollectedOutput> outputs = part.so_far;
  if (part.gone() && part.gone()->revoked) outputs.clear();  // a revoked node may have made them up
  if (part.finished() && !part.gone()) {
    outputs = part.report->outputs;
    add_sent_before(part, outputs);
  }
  if (!part.ended() && fresh != nullptr) outputs = *fresh;
  const bool told = std::any_of(outputs.begin(), outputs.end(), [](const CollectedOutput& output) {
    return output.kind == OutputKind::checkpoint && output.tree;
  });
  if (part.saved && !told) outputs.push_back(part.saved->checkpoint);
  return outputs;
}

// The node that solves the environment for which this part waits: "this node solves it", "node n2
// solves it for job 'x'".
std::string who_solves(const State& state, const Job& job, const Part& part,
                       const std::string& platform) {
  const auto solver = solver_of(state, *job.environment, platform);
  if (!solver) return "";
  const Attempt& attempt = *state.attempt(solver->attempt);
  const Part& other = attempt.parts[static_cast<std::size_t>(solver->node_rank)];
  if (&other == &part) return "this node solves it";
  std::string text = fmt::format("node {} solves it", state.node_name(other.node));
  if (attempt.id.job != job.id) text += fmt::format(" for job '{}'", attempt.id.job.value);
  return text;
}

// The state of a part's environment. While a part is being staged, its newest report may be older
// than its request for a lock, or than the lock. A part that has ended waits for nothing.
std::optional<EnvironmentReport> environment_of(const State& state, const Job& job,
                                                const Part& part) {
  using Step = EnvironmentReport::Step;
  std::optional<EnvironmentReport> report;
  if (part.report) report = part.report->environment;
  if (!job.environment) return report;
  const Environment& environment = *state.environment(*job.environment);
  if (!report && part.lock_request)
    report = EnvironmentReport{
        Step::wants_lock, environment.generation, part.lock_request->platform, {}, {}, {}};
  const bool waits =
      report && (report->step == Step::wants_lock || report->step == Step::not_solved);
  if (!waits) return report;
  if (part.ended()) return std::nullopt;
  report->step = Step::wants_lock;
  report->how.clear();
  report->why = {};
  if (const auto lock = environment.locks.find(report->platform); lock != environment.locks.end()) {
    report->step = Step::solved;
    report->lock = lock->second.tree;
  } else if (could_not_solve(environment, part) && part.asks_for(report->platform)) {
    report->step = Step::not_solved;
    report->why = part.lock_request->not_solved->why;
  } else {
    report->how = who_solves(state, job, part, report->platform);
  }
  return report;
}

std::vector<RankUse> used_by(const NodeExitReport& exit) {
  std::vector<RankUse> used;
  for (const RankExit& rank : exit.ranks)
    if (rank.peak_memory.count != 0 || rank.cpu_time != Duration::zero())
      used.push_back({rank.rank, 0, rank.cpu_time, {}, rank.peak_memory, rank.read, rank.written});
  if (used.size() > kMaxRanksOfUse) used.resize(kMaxRanksOfUse);
  return used;
}

std::vector<RankEnd> ended_of(const NodeExitReport& exit) {
  std::vector<RankEnd> ended;
  for (const RankExit& rank : exit.ranks) ended.push_back(end_of(rank));
  std::sort(ended.begin(), ended.end(),
            [](const RankEnd& a, const RankEnd& b) { return a.rank < b.rank; });
  if (ended.size() > kMaxRanksPerNode) ended.resize(kMaxRanksPerNode);
  return ended;
}

// The node's addresses by which other ranks may know it. Loopback addresses are left out: every
// node has them.
std::vector<std::string> addresses_of(const Inventory& inventory) {
  std::vector<std::string> addresses;
  if (!inventory.address_is_loopback && !inventory.address.empty())
    addresses.push_back(inventory.address);
  for (const NetworkInterface& interface : inventory.interfaces) {
    if (interface.loopback || !interface.up) continue;
    for (const std::string& address : interface.addresses)
      if (addresses.size() < kMaxPartAddresses && address != inventory.address)
        addresses.push_back(address);
  }
  return addresses;
}

// Adds the data of a part that has ended.
void show_ended(const Part& part, bool is_whole, PartView& view) {
  view.state = PartState::finished;
  view.outputs = outputs_of(part, nullptr);
  if (part.finished() && !part.gone()) view.not_kept = part.report->not_kept;
  if (part.report && part.report->exit) {
    view.limits_why = part.report->exit->limits;
    view.notes_why = part.report->exit->notes;
    view.used = used_by(*part.report->exit);
    if (is_whole) view.ended = ended_of(*part.report->exit);
  }
  if (part.gone()) view.why = part.gone()->why;
}

// Adds the data of a part that has not ended: its last report, and later messages of its node.
void show_running(const Part& part, const AttemptId& attempt, const NodeWatch* watch, bool is_whole,
                  PartView& view) {
  if (part.report) {
    view.state = part.report->state;
    view.progress = part.report->progress;
    view.limits_why = part.report->limits;
    view.notes_why = part.report->notes;
  } else {
    view.progress = "the node has not answered yet";
  }
  const std::vector<CollectedOutput>* fresh = nullptr;
  if (watch != nullptr) {
    const auto so_far = watch->so_far.find(attempt);
    if (so_far != watch->so_far.end()) fresh = &so_far->second.outputs;
    const auto limits = watch->limits.find(attempt);
    if (limits != watch->limits.end()) view.limits_why = limits->second;
    const auto ended = watch->ended.find(attempt);
    if (is_whole && ended != watch->ended.end()) view.ended = ended->second;
    const auto newer = watch->progress.find(attempt);
    if (newer != watch->progress.end()) view.progress = newer->second;
  }
  view.outputs = outputs_of(part, fresh);
}

}  // namespace

PartView view_of_part(const Cluster& cluster, const Job& job, const Attempt& attempt, int rank,
                      ViewDetail detail) {
  const Part& part = attempt.parts[static_cast<std::size_t>(rank)];
  PartView view;
  view.node = part.node;
  view.node_name = cluster.state.node_name(part.node);
  view.node_rank = rank;
  view.ranks = job.spec.ranks_on(rank);
  view.first_rank = job.spec.first_rank_on(rank);
  view.allotment = part.allotment;
  view.environment = environment_of(cluster.state, job, part);
  const bool is_whole = detail == ViewDetail::whole;
  const Node* node = cluster.state.node(part.node);
  if (is_whole && node != nullptr) view.addresses = addresses_of(node->inventory);
  if (const auto* released = part.released()) view.lost_logs = released->lost_logs;
  const bool has_few = attempt.parts.size() <= kPartsWithSettings;
  if (is_whole && has_few && part.report) view.settings = part.report->settings;
  if (part.ended())
    show_ended(part, is_whole, view);
  else
    show_running(part, attempt.id, cluster.watches.find(part.node), is_whole, view);
  return view;
}

}  // namespace lockstep::launcher
