#pragma once
// Views as JSON, shaped like `az ml job show` and `az ml compute list-nodes`: Azure's keys first, with
// Azure's meaning, and everything of ours under "lockstep". Scripts read this: keys are only added.

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "common/domain/views.h"

namespace lockstep::cli {

using Json = nlohmann::ordered_json;

Json to_json(const JobView& job);
Json to_json(const NodeView& node);
Json to_json(const ExplainView& explain);
Json to_json(const LauncherStatus& status);
Json to_json(const ExitReport& report);

template <typename View>
Json to_json(const std::vector<View>& views);

}  // namespace lockstep::cli
