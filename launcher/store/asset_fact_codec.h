#pragma once
// Facts about registered data and models, in the journal.

#include "launcher/core/fact.h"
#include "proto/journal.pb.h"

namespace lockstep::pb {

void to_wire(const launcher::AssetRegistered& from, AssetRegistered* to);
Status from_wire(const AssetRegistered& from, launcher::AssetRegistered* to);
void to_wire(const launcher::AssetArchived& from, AssetArchived* to);
Status from_wire(const AssetArchived& from, launcher::AssetArchived* to);

}  // namespace lockstep::pb
