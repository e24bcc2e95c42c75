#pragma once
// Compute targets as text. Pure.

#include <string>
#include <vector>

#include "common/domain/compute.h"

namespace lockstep::cli {

std::string compute_table(const std::vector<ComputeView>& computes);
std::string compute_text(const ComputeView& compute);
// How to add nodes to this target; "" for an alias, which has the nodes of "local".
std::string how_to_add_nodes(const ComputeView& compute);

}  // namespace lockstep::cli
