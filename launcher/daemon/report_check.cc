#include "launcher/daemon/report_check.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "launcher/core/state.h"

namespace lockstep::launcher {
namespace {

constexpr const char* kRefused =
    "its files are not kept: they differ from what its node sent to the launcher";

std::vector<PartReport>* reports_of(AgentMessage& message) {
  if (auto* open = std::get_if<SessionOpen>(&message)) return &open->parts;
  if (auto* observed = std::get_if<Observed>(&message)) return &observed->parts;
  return nullptr;
}

// `visit` may take the tree away.
template <typename Visit>
void each_tree(PartReport& report, const Visit& visit) {
  const auto of_output = [&](CollectedOutput& output) {
    const bool is_refused =
        (output.tree && !visit(*output.tree)) || (output.pieces && !visit(*output.pieces));
    if (!is_refused) return;
    output.tree.reset();
    output.pieces.reset();
    output.partial = 0;
    if (output.problems.size() < kMaxOutputProblems) output.problems.emplace_back(kRefused);
  };
  for (CollectedOutput& output : report.outputs) of_output(output);
  if (report.restored) of_output(*report.restored);
  auto& environment = report.environment;
  // Only a lock that was solved now is for others to use.
  const bool is_news = environment && environment->step == EnvironmentReport::Step::solved;
  if (!is_news || !environment->lock || visit(*environment->lock)) return;
  // Another node may solve it.
  environment->lock.reset();
  environment->step = EnvironmentReport::Step::not_solved;
  environment->how = "the lock that the node named differs from what the node sent to the launcher";
}

}  // namespace

void ReportCheck::take(NodeId node, NodeRequest from, AgentMessage message) {
  std::set<Digest> named;
  if (auto* reports = reports_of(message))
    for (PartReport& report : *reports)
      if (core_.state().assigned_part(report.attempt, node) != nullptr)
        each_tree(report, [&](const Digest& tree) { return named.insert(tree), true; });
  if (!named.empty())
    for (const Digest& known : core_.trees_of(node)) named.erase(known);
  const auto found = waiting_.find(node);
  if (named.empty() && found == waiting_.end()) return deliver_(from, std::move(message));
  auto& queue = waiting_[node];
  if (queue.size() >= kMaxWaitingReports)
    return log_refusal_(
        fmt::format("dropped a report of node {}: {} earlier reports still wait until the trees "
                    "that they name are checked; the node sends unacknowledged reports again",
                    core_.state().node_name(node), queue.size()));
  queue.push_back({std::move(from), std::move(message), named, {}});
  for (const Digest& root : named)
    check_(NodeCaller{node}, root, [this, node, root](const Result<bool>& whole) {
      if (!whole)
        spdlog::warn("a tree that a node reported could not be checked: {}", whole.error().message);
      checked(node, root, whole && *whole);
    });
}

void ReportCheck::checked(NodeId node, const Digest& root, bool is_its_own) {
  if (!is_its_own)
    spdlog::warn("node {} reported a tree that it neither sent to the launcher nor got from it: {}",
                 core_.state().node_name(node), root.hex());
  for (Waiting& one : waiting_[node])
    if (one.open.erase(root) != 0 && !is_its_own) one.refused.insert(root);
  deliver_ready(node);
}

void ReportCheck::deliver_ready(NodeId node) {
  auto& queue = waiting_[node];
  while (!queue.empty() && queue.front().open.empty()) {
    Waiting one = std::move(queue.front());
    queue.pop_front();
    if (auto* reports = reports_of(one.message); reports && !one.refused.empty())
      for (PartReport& report : *reports)
        each_tree(report, [&](const Digest& tree) { return one.refused.count(tree) == 0; });
    deliver_(one.from, std::move(one.message));
  }
  if (queue.empty()) waiting_.erase(node);
}

}  // namespace lockstep::launcher
