#pragma once
// CheckJobFile and JobFileChecked on the wire: see proto/job_file.proto and fields.h.

#include "common/domain/messages/job_check.h"
#include "common/wire/fields.h"
#include "proto/job_file.pb.h"

namespace lockstep::pb {

void to_wire(const lockstep::CheckJobFile& from, CheckJobFile* to);
Status from_wire(const CheckJobFile& from, lockstep::CheckJobFile* to);
void to_wire(const lockstep::JobFileChecked& from, JobFileChecked* to);
Status from_wire(const JobFileChecked& from, lockstep::JobFileChecked* to);

}  // namespace lockstep::pb
