#pragma once
// The texts of the reasons in views of compute targets: the core gives the reasons alone.

#include <vector>

#include "common/domain/targets/compute.h"

namespace lockstep::launcher {

void add_texts(ComputeView& view);
std::vector<ComputeView> with_texts(std::vector<ComputeView> views);

}  // namespace lockstep::launcher
