#pragma once
// Reactions to requests that register and archive data and models.

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

void react(Context& core, const CreateAssetInput& input);
void react(Context& core, const ArchiveAssetInput& input);

// A version that is to be registered, or that already exists with the same files.
struct Registration {
  AssetRegistered fact;
  bool is_there = false;
};
// The version that the request would register; an error says why it cannot.
Result<Registration> registration_of(const Cluster& cluster, const CreateAssetInput& input);

}  // namespace lockstep::launcher
