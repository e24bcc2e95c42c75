// The ports of a part, leased before it is prepared: MASTER_PORT, those of TensorFlow's processes,
// and the one on which the other runners of the gang reach this one. Whoever holds all ports of a
// node does not fail the jobs of others: the part waits until there are some, and says why.

#include <spdlog/spdlog.h>

#include <utility>

#include "runner/runner.h"

namespace lockstep::runner {
namespace {

constexpr Duration kLeaseAgainAfter = seconds(2);
// Less than the launcher gives a node to prepare: a wait for ports costs none of the job's retries.
constexpr Duration kWaitsForPorts = minutes(10);

}  // namespace

void Runner::perform(const LeasePorts& action) {
  leasing_ = action;
  lease_ports();
}

// A part that has ended meanwhile needs none.
void Runner::lease_ports() {
  lease_again_at_ = Instant::never();
  if (!leasing_ || stage_ != Stage::supervising) {
    why_no_port_.clear();
    return;
  }
  const Status leased = lease_rest();
  const std::string before =
      std::exchange(why_no_port_, leased ? "" : "waits for a port: " + leased.error().message);
  if (!leased) {
    const Instant now = clock_.now();
    if (before.empty()) wait_for_ports_until_ = now + kWaitsForPorts;
    if (before.empty()) spdlog::warn("{}", why_no_port_);
    if (now >= wait_for_ports_until_)
      return feed(SetupFailed{Cause::port_taken, told(leased.error().message)});
    lease_again_at_ = now + kLeaseAgainAfter;
    if (before != why_no_port_) perform(Report{core_.report()});
    return;
  }
  Endpoint endpoint;
  if (master_port_) endpoint.master_port = master_port_->port();
  if (link_) {
    endpoint.runner_port = link_->port();
    endpoint.runner_key = link_->public_key();
  }
  leasing_.reset();
  feed(endpoint);
}

// What it has leased it keeps.
Status Runner::lease_rest() {
  if (leasing_->master_port && !master_port_) {
    TRY_ASSIGN(master_port_, io::PortLease::acquire_or_any({}));
  }
  while (static_cast<int>(rank_ports_.size()) < leasing_->rank_ports) {
    TRY_ASSIGN(io::PortLease lease, io::PortLease::acquire_or_any({}));
    rank_ports_.push_back(std::move(lease));
  }
  lease_ras_port();
  if (orders_.assignment.nodes() == 1 || link_) return {};
  TRY_ASSIGN(link_, GangLink::create(loop_, {[this] { gang_connected(); },
                                             [this](int from, GangMessage message) {
                                               gang_received(from, std::move(message));
                                             },
                                             [this](int node_rank) { neighbour_lost(node_rank); },
                                             [this](const Why& why) {
                                               feed(SetupFailed{Cause::start_failed, why});
                                             }}));
  return {};
}

// A rank's NCCL listens there. No job waits for it, or fails without.
void Runner::lease_ras_port() {
  if (ras_port_ || orders_.assignment.allotment.gpus.empty()) return;
  if (auto lease = io::PortLease::acquire_or_any({}))
    ras_port_ = *std::move(lease);
  else
    spdlog::info("NCCL's RAS has no port: {}", lease.error().message);
}

}  // namespace lockstep::runner
