// The ports of a part, leased before it is prepared: MASTER_PORT, the ports of TensorFlow's
// processes, and the port on which the gang's other runners reach this one. If all ports of a node
// are taken, its jobs do not fail: the part waits for free ones, and reports why.

#include <spdlog/spdlog.h>

#include <utility>

#include "runner/runner.h"

namespace lockstep::runner {
namespace {

constexpr Duration kLeaseAgainAfter = seconds(2);
// Less than the launcher allows a node to prepare, so waiting for ports costs no retry of the job.
constexpr Duration kWaitsForPorts = minutes(10);

}  // namespace

void Runner::perform(const LeasePorts& action) {
  leasing_ = action;
  lease_ports();
}

// Leases the ports, unless the part has ended meanwhile.
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

// Ports that are leased already are kept.
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

// Leases a port on which NCCL of a rank listens. The job neither waits for this port nor fails
// without it.
void Runner::lease_ras_port() {
  if (ras_port_ || orders_.assignment.allotment.gpus.empty()) return;
  if (auto lease = io::PortLease::acquire_or_any({}))
    ras_port_ = *std::move(lease);
  else
    spdlog::info("NCCL's RAS has no port: {}", lease.error().message);
}

}  // namespace lockstep::runner
