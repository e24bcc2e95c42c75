#pragma once
// Reactions to requests about sizes: define, remove, grant; and what the launcher knows of a size.
// A size that an operator defined takes the place of one of the catalogue with the same name.

#include <optional>
#include <string>
#include <vector>

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

void react(Context& core, const SizeInput& input);

// Null: there is no such size.
const Size* size_called(const State& state, const CoreConfig& config, const std::string& name);
// How many machines of the size all targets may have together; nullopt: no limit.
std::optional<int> quota_of(const State& state, const Size& size);
// The targets of this size, by name, and how many machines they may have together.
std::vector<std::string> targets_of_size(const State& state, const std::string& name);
int machines_of_size(const State& state, const std::string& name);
// Why a target with this spec may not be created or changed to it, because of its size; nullopt: it
// may.
std::optional<Error> refused_by_size(const State& state, const CoreConfig& config,
                                     const ComputeSpec& spec);
// "there is no size 'X'; did you mean 'Y'? …"
Error no_such_size(const State& state, const CoreConfig& config, const std::string& name);

// Without names: all, sorted by name.
std::vector<SizeView> size_views(const Cluster& cluster, const std::vector<std::string>& names);

}  // namespace lockstep::launcher
