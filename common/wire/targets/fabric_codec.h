#pragma once
// The fabric of nodes, results of probes, network settings and what fabric.yml says of a node, to
// and from proto/fabric.proto. See fields.h. Writers and readers keep every limit of fabric.h:
// whoever makes a list that is too long loses its end, not the message, and a number that is too
// large becomes the largest.

#include "common/domain/targets/fabric.h"
#include "common/wire/fields.h"
#include "proto/fabric.pb.h"

namespace lockstep::pb {

void to_wire(const lockstep::NodeFabric& from, NodeFabric* to);
Status from_wire(const NodeFabric& from, lockstep::NodeFabric* to);
void to_wire(const lockstep::GangFabric& from, GangFabric* to);
Status from_wire(const GangFabric& from, lockstep::GangFabric* to);
void to_wire(const lockstep::PathFailure& from, PathFailure* to);
Status from_wire(const PathFailure& from, lockstep::PathFailure* to);
void to_wire(const lockstep::ChosenPath& from, ChosenPath* to);
Status from_wire(const ChosenPath& from, lockstep::ChosenPath* to);
void to_wire(const lockstep::ProbeResult& from, ProbeResult* to);
Status from_wire(const ProbeResult& from, lockstep::ProbeResult* to);
void to_wire(const lockstep::NetworkSetting& from, NetworkSetting* to);
Status from_wire(const NetworkSetting& from, lockstep::NetworkSetting* to);
void to_wire(const lockstep::SettingOverride& from, SettingOverride* to);
Status from_wire(const SettingOverride& from, lockstep::SettingOverride* to);
void to_wire(const lockstep::OperatorSettings& from, OperatorSettings* to);
Status from_wire(const OperatorSettings& from, lockstep::OperatorSettings* to);

}  // namespace lockstep::pb
