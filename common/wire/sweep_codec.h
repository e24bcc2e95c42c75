#pragma once
// Sweeps and the values of their trials, to and from proto/sweep.proto. See fields.h. What of a
// sweep must fit together, validate() of common/domain/sweep.h says.

#include "common/base/result.h"
#include "common/domain/sweep.h"
#include "common/wire/fields.h"
#include "proto/sweep.pb.h"

namespace lockstep::pb {

void to_wire(const lockstep::SweepSpec& from, SweepSpec* to);
Status from_wire(const SweepSpec& from, lockstep::SharedSweep* to);

void to_wire(const lockstep::TrialParameters& from, TrialParameters* to);
Status from_wire(const TrialParameters& from, lockstep::TrialParameters* to);

}  // namespace lockstep::pb
