#pragma once
// Compute targets as JSON, with az ml's keys where it has them.

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "common/domain/targets/compute.h"

namespace lockstep::api {

using Json = nlohmann::ordered_json;

Json to_json(const ComputeView& compute);
Json to_json(const std::vector<ComputeView>& computes);

}  // namespace lockstep::api
