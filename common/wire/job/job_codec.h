#pragma once
// JobSpec and the exit reports, to and from proto/job.proto. See fields.h.

#include "common/domain/data/outputs.h"
#include "common/domain/job/job_status.h"
#include "common/domain/job/spec.h"
#include "common/domain/ranks/exit_report.h"
#include "common/wire/fields.h"
#include "proto/job.pb.h"

namespace lockstep::pb {

LOCKSTEP_CODEC(lockstep::After, After);
LOCKSTEP_CODEC(lockstep::DatastorePath, DatastorePath);
LOCKSTEP_CODEC(lockstep::DataInput, DataInput);
LOCKSTEP_CODEC(lockstep::OutputSpec, OutputSpec);
LOCKSTEP_CODEC(lockstep::JobSpec, JobSpec);
LOCKSTEP_CODEC(lockstep::RankExit, RankExit);
LOCKSTEP_CODEC(lockstep::RankEnd, RankEnd);
LOCKSTEP_CODEC(lockstep::LogSize, LogSize);
LOCKSTEP_CODEC(lockstep::NodeExitReport, NodeExitReport);
LOCKSTEP_CODEC(lockstep::ClockOffset, ClockOffset);
LOCKSTEP_CODEC(lockstep::ExitReport, ExitReport);
// Codecs in pipeline_codec.cc: a pipeline, the task of an array, and the outputs of a step.
LOCKSTEP_CODEC(lockstep::PipelineSpec, PipelineSpec);
LOCKSTEP_CODEC(lockstep::ArrayTask, ArrayTask);
LOCKSTEP_CODEC(lockstep::MergedOutput, MergedOutput);

}  // namespace lockstep::pb
