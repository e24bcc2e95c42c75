#pragma once
// The reports of nodes, for the service: their use of resources, received by the control server,
// and their transfers of files, received by the bulk server.

#include "launcher/api/ports/clock_and_random.h"
#include "launcher/api/ports/measurements.h"
#include "launcher/daemon/blobs/peer_directory.h"
#include "launcher/daemon/ports/usage_store.h"

namespace lockstep::launcher {

class NodeMeasurements final : public Measurements {
 public:
  NodeMeasurements(const UsageStore& usage, const PeerDirectory& peers, ClockAndRandom& clock,
                   Duration silent_after)
      : usage_(usage), peers_(peers), clock_(clock), silent_after_(silent_after) {}

  std::optional<MeasuredNode> of_node(NodeId node, bool history) const override {
    return usage_.of_node(clock_.now(), node, history);
  }
  std::optional<MeasuredPart> of_part(NodeId node, const AttemptId& attempt) const override {
    return usage_.of_part(clock_.now(), node, attempt);
  }
  BlobTraffic traffic(NodeId node) const override { return peers_.traffic(node); }
  Duration silent_after() const override { return silent_after_; }

 private:
  const UsageStore& usage_;
  const PeerDirectory& peers_;
  ClockAndRandom& clock_;
  const Duration silent_after_;
};

}  // namespace lockstep::launcher
