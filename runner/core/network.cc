// From the connected gang to known paths between its nodes: why runners do not connect, and what
// follows from the probe of the network.

#include <algorithm>

#include "runner/core/impl.h"

namespace lockstep::runner {

void Core::Impl::on(const ParentChecked& input) {
  if (phase != Phase::connecting || terminating) return;
  unreachable_parent = input.failure;
  ready_by = connecting_since + (unreachable_parent ? kNamedWithin : kConnectWithin);
}

void Core::Impl::on(const GangConnected& input) {
  if (phase != Phase::connecting || terminating) return;
  if (input.gang) gang = input.gang;
  unreachable_parent.reset();
  if (input.knows < kGangProbes || !spans_hosts(*gang)) return start_ranks();
  phase = Phase::probing;
  ready_by = now + kProbeWithin;
  out.emplace_back(ProbeGang{});
}

void Core::Impl::on(const ProbeDone& input) {
  if (phase != Phase::probing || terminating || probe) return;
  probe = input.result;
  switch (input.verdict) {
    case ProbeDone::Verdict::passed: use_chosen_addresses(); return start_ranks();
    case ProbeDone::Verdict::failed_here:
      probe_failed_here = true;
      return fail_without_rank(Cause::start_failed, why_not_ready());
    case ProbeDone::Verdict::failed_elsewhere:
      // If that node does not receive the message, node 0 ends the start after this time.
      if (assignment.node_rank == 0) ready_by = now + kProbeAbortWithin;
      return;
  }
}

void Core::Impl::use_chosen_addresses() {
  if (probe->chosen.empty()) return;
  GangTable table = *gang;
  for (const ChosenPath& path : probe->chosen)
    if (path.node_rank >= 0 && path.node_rank < static_cast<int>(table.members.size()) &&
        !path.address.empty())
      table.members[static_cast<std::size_t>(path.node_rank)].address = path.address;
  launchers_gang = gang;
  gang = std::move(table);
}

// The name of a node. While the gang connects, a node may only know its parent.
std::string Core::Impl::name_of(int node) const {
  std::string name;
  if (gang && node >= 0 && node < static_cast<int>(gang->members.size()))
    name = gang->members[static_cast<std::size_t>(node)].hostname;
  else if (node == assignment.node_rank)
    name = self.hostname;
  else if (const auto& share = assignment.share; share && share->parent)
    name = share->parent->hostname;
  return name.empty() ? "node rank " + std::to_string(node) : name;
}

PathIsBroken Core::Impl::broken(const PathFailure& failure) const {
  return {failure, name_of(failure.from), name_of(failure.to)};
}

Why Core::Impl::why_not_ready() const {
  if (phase == Phase::connecting)
    return GangNotConnected{ready_by - connecting_since,
                            unreachable_parent ? Why(broken(*unreachable_parent)) : Why()};
  if (!probe) return ProbeDidNotEnd{kProbeWithin};
  if (probe->failures.empty()) return ProbeFailed{};
  PathIsBroken first = broken(probe->failures.front());
  first.more = std::max(probe->broken - 1, 0);
  return first;
}

// The first node reports the result, and so does the node that ends the start because of it. The
// reason why the gang cannot connect is reported in the same way.
std::optional<ProbeResult> Core::Impl::shown_probe() const {
  if (unreachable_parent) return ProbeResult{{}, {*unreachable_parent}, false, 1};
  if (!probe || (assignment.node_rank != 0 && !probe_failed_here)) return std::nullopt;
  if (probe->chosen.empty() && probe->failures.empty()) return std::nullopt;
  ProbeResult shown = *probe;
  if (shown.chosen.size() > kMaxChosenShown) shown.chosen.resize(kMaxChosenShown);
  return shown;
}

}  // namespace lockstep::runner
