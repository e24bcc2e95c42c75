#pragma once
// Sizes of machines as JSON, with az ml's keys where it has them.

#include "common/domain/targets/size.h"
#include "launcher/api/json/keys/keys.h"

namespace lockstep::api {

void keys(const SizeView& view, See& see);
void keys(const SizeSeries& series, See& see);

}  // namespace lockstep::api
