#pragma once
// Compute targets as JSON, with az ml's keys where it has them.

#include "common/domain/targets/compute.h"
#include "launcher/api/json/keys/keys.h"

namespace lockstep::api {

void keys(const ComputeView& compute, See& see);

}  // namespace lockstep::api
