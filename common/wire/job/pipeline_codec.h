#pragma once
// Pipelines and the outputs of their steps, to and from proto/job.proto. See fields.h.

#include "common/base/result.h"
#include "common/domain/job/pipeline.h"
#include "common/wire/fields.h"
#include "proto/job.pb.h"

namespace lockstep::pb {

void to_wire(const lockstep::PipelineSpec& from, PipelineSpec* to);
Status from_wire(const PipelineSpec& from, lockstep::SharedPipeline* to);

void to_wire(const lockstep::ArrayTask& from, ArrayTask* to);
Status from_wire(const ArrayTask& from, lockstep::ArrayTask* to);

void to_wire(const lockstep::MergedOutput& from, MergedOutput* to);
Status from_wire(const MergedOutput& from, lockstep::MergedOutput* to);

}  // namespace lockstep::pb
