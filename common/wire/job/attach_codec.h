#pragma once
// The frames of attachments, to and from proto/attach.proto. See fields.h.

#include "common/domain/runners/attach_frames.h"
#include "common/wire/body_codec.h"
#include "common/wire/fields.h"
#include "proto/attach.pb.h"

namespace lockstep::pb {

// Keeps every limit of runners/attach_frames.h: programs that pass a frame on need not look into
// it.
LOCKSTEP_CODEC(lockstep::AttachFrame, AttachFrame);

// The other envelope of an attachment is a BulkEnvelope.
class RunnerControl;
template <>
inline constexpr int kBodyOf<RunnerControl, lockstep::AttachFrame> = 30;

}  // namespace lockstep::pb
