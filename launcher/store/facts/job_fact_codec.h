#pragma once
// The facts of jobs' metadata, to and from proto/journal.proto. See common/wire/fields.h.

#include "common/base/result.h"
#include "launcher/state/facts/fact.h"
#include "proto/journal.pb.h"

namespace lockstep::pb {

void to_wire(const launcher::JobArchived& from, JobArchived* to);
Status from_wire(const JobArchived& from, launcher::JobArchived* to);

void to_wire(const launcher::JobAnnotated& from, JobAnnotated* to);
Status from_wire(const JobAnnotated& from, launcher::JobAnnotated* to);

}  // namespace lockstep::pb
