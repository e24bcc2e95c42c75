#pragma once
// The messages of a gang's probe, to and from proto/probe.proto. See fields.h.

#include "common/domain/messages/probe_protocol.h"
#include "common/wire/fields.h"
#include "proto/probe.pb.h"

namespace lockstep::pb {

void to_wire(const lockstep::ProbeOffer& from, ProbeOffer* to);
Status from_wire(const ProbeOffer& from, lockstep::ProbeOffer* to);
void to_wire(const lockstep::ProbePlan& from, ProbePlan* to);
Status from_wire(const ProbePlan& from, lockstep::ProbePlan* to);
void to_wire(const lockstep::ProbeFindings& from, ProbeFindings* to);
Status from_wire(const ProbeFindings& from, lockstep::ProbeFindings* to);
void to_wire(const lockstep::ProbeOutcome& from, ProbeOutcome* to);
Status from_wire(const ProbeOutcome& from, lockstep::ProbeOutcome* to);

}  // namespace lockstep::pb
