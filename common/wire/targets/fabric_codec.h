#pragma once
// The fabric of nodes, results of probes, network settings and what fabric.yml says of a node, to
// and from proto/fabric.proto. See fields.h. Writers and readers keep every limit of fabric.h:
// whoever makes a list that is too long loses its end, not the message, and a number that is too
// large becomes the largest.

#include "common/domain/targets/fabric.h"
#include "common/wire/fields.h"
#include "proto/fabric.pb.h"

namespace lockstep::pb {

LOCKSTEP_CODEC(lockstep::NodeFabric, NodeFabric);
LOCKSTEP_CODEC(lockstep::GangFabric, GangFabric);
LOCKSTEP_CODEC(lockstep::PathFailure, PathFailure);
LOCKSTEP_CODEC(lockstep::ProbeResult, ProbeResult);
LOCKSTEP_CODEC(lockstep::NetworkSetting, NetworkSetting);
LOCKSTEP_CODEC(lockstep::SettingOverride, SettingOverride);
LOCKSTEP_CODEC(lockstep::OperatorSettings, OperatorSettings);

}  // namespace lockstep::pb
