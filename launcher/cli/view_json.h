#pragma once
// Views as JSON. A job is shaped like `az ml job show`: Azure's keys first, with Azure's meaning;
// then what a job file says under `lockstep`; then how it goes (reason, exit_code, report,
// attempts). Scripts read this: keys are only added.

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
