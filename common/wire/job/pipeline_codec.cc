// Pipelines and the outputs of their steps: of job_codec.h.

#include "common/domain/job/pipeline.h"
#include "common/wire/job/job_codec.h"
#include "common/wire/table_codec.h"
#include "proto/job.access.h"

namespace lockstep::pb {

LOCKSTEP_TABLE_CODEC(lockstep::PipelineSpec, PipelineSpec);
LOCKSTEP_TABLE_CODEC(lockstep::ArrayTask, ArrayTask);
LOCKSTEP_TABLE_CODEC(lockstep::MergedOutput, MergedOutput);

}  // namespace lockstep::pb
