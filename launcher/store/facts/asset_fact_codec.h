#pragma once
// Facts about registered data and models, and about names and their versions, in the journal.

#include "launcher/state/facts/fact.h"
#include "proto/journal.pb.h"

namespace lockstep::pb {

void to_wire(const launcher::AssetRegistered& from, AssetRegistered* to);
Status from_wire(const AssetRegistered& from, launcher::AssetRegistered* to);
void to_wire(const launcher::AssetArchived& from, AssetArchived* to);
Status from_wire(const AssetArchived& from, launcher::AssetArchived* to);
void to_wire(const launcher::NameShared& from, NameShared* to);
Status from_wire(const NameShared& from, launcher::NameShared* to);
void to_wire(const launcher::VersionsDeleted& from, VersionsDeleted* to);
Status from_wire(const VersionsDeleted& from, launcher::VersionsDeleted* to);
void to_wire(const launcher::NameSettled& from, NameSettled* to);
Status from_wire(const NameSettled& from, launcher::NameSettled* to);
void to_wire(const launcher::EnvironmentArchived& from, EnvironmentArchived* to);
Status from_wire(const EnvironmentArchived& from, launcher::EnvironmentArchived* to);
void to_wire(const launcher::VersionAnnotated& from, VersionAnnotated* to);
Status from_wire(const VersionAnnotated& from, launcher::VersionAnnotated* to);

}  // namespace lockstep::pb
