#pragma once
// Compute targets as text. Pure.

#include <string>
#include <vector>

#include "common/domain/targets/compute.h"

namespace lockstep::cli {

std::string compute_table(const std::vector<ComputeView>& computes);
// The target, followed by its machines, their failures and its history. `now` is only used to show
// ages.
std::string compute_text(const ComputeView& compute, Instant now);
// How to add nodes to this target; "" if there is nothing to do: an alias has the nodes of "local",
// and hosts that it names are attached by themselves.
std::string how_to_add_nodes(const ComputeView& compute);

}  // namespace lockstep::cli
