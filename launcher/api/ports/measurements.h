#pragma once
// The latest reports of nodes about the resources that they, their jobs and their transfers of
// files use. They are in memory alone, and no decision depends on them; nullopt: nothing was
// reported.

#include <optional>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/messages/views.h"
#include "common/domain/targets/metrics.h"

namespace lockstep::launcher {

class Measurements {
 public:
  virtual ~Measurements() = default;
  virtual std::optional<MeasuredNode> of_node(NodeId node, bool history) const = 0;
  virtual std::optional<MeasuredPart> of_part(NodeId node, const AttemptId& attempt) const = 0;
  virtual BlobTraffic traffic(NodeId node) const = 0;
  // The time after which a silent job is called silent; zero: never.
  virtual Duration silent_after() const = 0;
};

}  // namespace lockstep::launcher
