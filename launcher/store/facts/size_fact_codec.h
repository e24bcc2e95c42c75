#pragma once
// Facts about sizes, and about the labels and notices of nodes, in the journal.

#include "launcher/state/facts/fact.h"
#include "proto/journal.pb.h"

namespace lockstep::pb {

void to_wire(const launcher::SizeDefined& from, SizeDefined* to);
Status from_wire(const SizeDefined& from, launcher::SizeDefined* to);
void to_wire(const launcher::SizeRemoved& from, SizeRemoved* to);
Status from_wire(const SizeRemoved& from, launcher::SizeRemoved* to);
void to_wire(const launcher::SizeGranted& from, SizeGranted* to);
Status from_wire(const SizeGranted& from, launcher::SizeGranted* to);
void to_wire(const launcher::NodeLabelsChanged& from, NodeLabelsChanged* to);
Status from_wire(const NodeLabelsChanged& from, launcher::NodeLabelsChanged* to);
void to_wire(const launcher::NodeNoticed& from, NodeNoticed* to);
Status from_wire(const NodeNoticed& from, launcher::NodeNoticed* to);

}  // namespace lockstep::pb
