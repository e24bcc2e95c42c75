// Whether the nodes of the gang reach each other: checked while the runners connect, and by the
// probe before the first rank starts.

#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "runner/runner.h"

namespace lockstep::runner {

// Uses the whole table, or the part of it that this node has by then.
void Runner::check_parent(const ConnectGang& action) {
  const int self = orders_.assignment.node_rank;
  const int radix = action.share ? action.share->radix : kGangTreeRadix;
  const int parent = tree_parent(self, radix);
  const GangMember* member = nullptr;
  if (action.share && action.share->parent)
    member = &*action.share->parent;
  else if (action.gang && parent >= 0 && parent < static_cast<int>(action.gang->members.size()))
    member = &action.gang->members[static_cast<std::size_t>(parent)];
  if (parent < 0 || member == nullptr) return;
  parent_check_ = std::make_unique<ParentCheck>(
      loop_, clock_, self, parent, *member,
      [this](std::optional<PathFailure> failure) { feed(ParentChecked{std::move(failure)}); });
}

void Runner::perform(const ProbeGang&) { probe().begin(); }

// The probe, made with the link's table, since another node's message may come before this core
// knows that all are connected.
GangProbe& Runner::probe() {
  if (probe_) return *probe_;
  const Assignment& assignment = orders_.assignment;
  GangProbeFacts facts;
  facts.attempt = assignment.attempt;
  facts.node_rank = assignment.node_rank;
  facts.gang = link_->table();
  facts.kind = assignment.spec.distribution.kind;
  if (master_port_) facts.leased_ports.push_back(master_port_->port());
  if (!rank_ports_.empty()) facts.leased_ports.push_back(rank_ports_.front().port());
  facts.interface = assignment.operator_settings.interface;
  facts.cache_folder = probe_cache_;
  facts.is_off = !probes_;
  probe_ = std::make_unique<GangProbe>(
      loop_, clock_, std::move(facts),
      GangProbe::Events{
          [this](int node_rank, const GangMessage& message) {
            if (link_) link_->send_to(node_rank, message);
          },
          [this](const GangMessage& message) {
            if (link_) link_->broadcast(message);
          },
          [this](ProbeOutcome outcome) { probe_done(std::move(outcome)); },
      });
  return *probe_;
}

void Runner::probe_done(ProbeOutcome outcome) {
  const int self = orders_.assignment.node_rank;
  probe_entry_ = probe_->cache_entry();
  for (const ChosenPath& path : outcome.result.chosen)
    if (path.node_rank == self)
      spdlog::info("this node uses {}{} in its gang{}", path.address,
                   path.interface.empty() ? "" : " of " + path.interface,
                   outcome.result.cached ? ", as an earlier probe found" : "");
  if (gang_watch_) gang_watch_->add_addresses(outcome.result.chosen);
  using Verdict = ProbeDone::Verdict;
  const Verdict verdict = outcome.failed_on < 0       ? Verdict::passed
                          : outcome.failed_on == self ? Verdict::failed_here
                                                      : Verdict::failed_elsewhere;
  feed(ProbeDone{std::move(outcome.result), verdict});
}

void Runner::expire_probe(Instant now) {
  if (parent_check_) parent_check_->expire(now);
  if (probe_) probe_->expire(now);
}

Instant Runner::probe_deadline() const {
  return std::min(parent_check_ ? parent_check_->next_deadline() : Instant::never(),
                  probe_ ? probe_->next_deadline() : Instant::never());
}

void Runner::end_probe() {
  parent_check_.reset();
  probe_.reset();
}

// Removes a probe's result. Any end, even by a person who waited in vain, may have been caused by
// the network. So the next gang of these nodes is probed again.
void Runner::forget_probe_of(const NodeExitReport& report) {
  if (report.cause != Cause::completed) forget_probe(probe_entry_);
}

}  // namespace lockstep::runner
