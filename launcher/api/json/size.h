#pragma once
// Sizes of machines as JSON, with az ml's keys where it has them.

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "common/domain/targets/size.h"

namespace lockstep::api {

using Json = nlohmann::ordered_json;

Json to_json(const SizeView& size);
Json to_json(const std::vector<SizeView>& sizes);
Json to_json(const std::vector<SizeSeries>& series);

}  // namespace lockstep::api
