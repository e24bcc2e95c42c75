#pragma once
// Nodes that have reported nothing.

#include "launcher/api/ports/measurements.h"

namespace lockstep::test {

class FakeMeasurements final : public launcher::Measurements {
 public:
  std::optional<MeasuredNode> of_node(NodeId, bool) const override { return std::nullopt; }
  std::optional<MeasuredPart> of_part(NodeId, const AttemptId&) const override {
    return std::nullopt;
  }
  BlobTraffic traffic(NodeId) const override { return {}; }
  Duration silent_after() const override { return minutes(10); }
};

}  // namespace lockstep::test
