#include "launcher/daemon/blobs/report_check.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "common/domain/why/ranks/parts.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {
namespace {

constexpr const char* kNotSent =
    "its files are not kept: they differ from what its node sent to the launcher";

std::vector<PartReport>* reports_of(AgentMessage& message) {
  if (auto* open = std::get_if<SessionOpen>(&message)) return &open->parts;
  if (auto* observed = std::get_if<Observed>(&message)) return &observed->parts;
  return nullptr;
}

// Whether an error is about the tree, which is too large or has invalid folders: checking again
// would give the same.
bool is_of_tree(const Error& error) {
  return error.code == ErrorCode::invalid_argument || error.code == ErrorCode::corrupt;
}

// Visits the trees of a report. `visit` returns why a tree is removed from the report; "": it
// stays.
template <typename Visit>
void each_tree(PartReport& report, const Visit& visit) {
  const auto of_output = [&](CollectedOutput& output) {
    std::string why = output.tree ? visit(*output.tree) : "";
    if (output.pieces && why.empty()) why = visit(*output.pieces);
    if (why.empty()) return;
    output.tree.reset();
    output.pieces.reset();
    output.partial = 0;
    if (output.problems.size() < kMaxOutputProblems) output.problems.push_back(std::move(why));
  };
  for (CollectedOutput& output : report.outputs) of_output(output);
  if (report.restored) of_output(*report.restored);
  auto& environment = report.environment;
  // Other jobs may use a lock only if it was solved now.
  const bool is_news = environment && environment->step == EnvironmentReport::Step::solved;
  if (!is_news || !environment->lock) return;
  const std::string why = visit(*environment->lock);
  if (why.empty()) return;
  // Another node may solve it.
  environment->lock.reset();
  environment->step = EnvironmentReport::Step::not_solved;
  environment->why = LockWasNotKept{why};
}

}  // namespace

void ReportCheck::take(NodeId node, NodeRequest from, AgentMessage message) {
  std::set<Digest> named;
  if (auto* reports = reports_of(message))
    for (PartReport& report : *reports)
      if (core_.state().assigned_part(report.attempt, node) != nullptr)
        each_tree(report, [&](const Digest& tree) { return named.insert(tree), std::string(); });
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
  queue.push_back({std::move(from), std::move(message), named, {}, {}});
  for (const Digest& root : named)
    check_(NodeCaller{node}, root,
           [this, node, root](const Result<bool>& whole) { checked(node, root, whole); });
}

void ReportCheck::checked(NodeId node, const Digest& root, const Result<bool>& whole) {
  std::string why, failure;
  if (!whole && (is_of_tree(whole.error()) || ++failed_[root] >= kMaxTreeChecks))
    why = "its files are not kept: " + whole.error().message;
  else if (!whole)
    failure = whole.error().message;
  else if (!*whole)
    why = kNotSent;
  if (failure.empty()) failed_.erase(root);
  if (failed_.size() > kMaxWaitingReports) failed_.clear();
  if (!why.empty())
    spdlog::warn("refused tree {} of a report of node {}: {}", root.hex(),
                 core_.state().node_name(node), why);
  for (Waiting& one : waiting_[node]) {
    if (one.open.erase(root) == 0) continue;
    if (!why.empty()) one.refused.emplace(root, why);
    if (!failure.empty()) one.failure = failure;
  }
  deliver_ready(node);
}

void ReportCheck::deliver_ready(NodeId node) {
  auto& queue = waiting_[node];
  while (!queue.empty() && queue.front().open.empty()) {
    Waiting one = std::move(queue.front());
    queue.pop_front();
    if (!one.failure.empty()) {
      log_refusal_(
          fmt::format("dropped a report of node {}, because a tree that it names could "
                      "not be checked: {}; the node sends unacknowledged reports again",
                      core_.state().node_name(node), one.failure));
      continue;
    }
    if (auto* reports = reports_of(one.message); reports && !one.refused.empty())
      for (PartReport& report : *reports)
        each_tree(report, [&](const Digest& tree) {
          const auto refused = one.refused.find(tree);
          return refused == one.refused.end() ? std::string() : refused->second;
        });
    deliver_(one.from, std::move(one.message));
  }
  if (queue.empty()) waiting_.erase(node);
}

}  // namespace lockstep::launcher
