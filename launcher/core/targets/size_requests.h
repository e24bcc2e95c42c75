#pragma once
// Reactions to requests about sizes: define, remove, grant; their quotas, and their views.

#include <optional>
#include <string>
#include <vector>

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

void react(Context& core, const SizeInput& input);

// The number of machines of the size that all targets may have together; nullopt: no limit.
std::optional<int> quota_of(const State& state, const Size& size);
// How many machines the targets of this size may have together.
int machines_of_size(const State& state, const std::string& name);
// Why a target with this spec may not be created, or changed to it, because of its size; nullopt:
// it may.
std::optional<Error> refused_by_size(const State& state, const CoreConfig& config,
                                     const ComputeSpec& spec);
// "there is no size 'X'; did you mean 'Y'? …"
Error no_such_size(const State& state, const CoreConfig& config, const std::string& name);

// The views of sizes; without names, all, sorted by name.
std::vector<SizeView> size_views(const Cluster& cluster, const std::vector<std::string>& names);

}  // namespace lockstep::launcher
