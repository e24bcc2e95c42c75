#pragma once
// JobSpec and the exit reports, to and from proto/job.proto. See fields.h.

#include "common/domain/data/outputs.h"
#include "common/domain/job/job_status.h"
#include "common/domain/job/spec.h"
#include "common/domain/ranks/exit_report.h"
#include "common/wire/fields.h"
#include "proto/job.pb.h"

namespace lockstep::pb {

// The limit of a list with items from the ranks or nodes of one attempt.
inline constexpr std::size_t kMaxRanksInReport = 10'000;

void to_wire(const lockstep::After& from, After* to);
Status from_wire(const After& from, lockstep::After* to);
void to_wire(const lockstep::DatastorePath& from, DatastorePath* to);
Status from_wire(const DatastorePath& from, lockstep::DatastorePath* to);
void to_wire(const lockstep::DataInput& from, DataInput* to);
Status from_wire(const DataInput& from, lockstep::DataInput* to);
void to_wire(const lockstep::OutputSpec& from, OutputSpec* to);
Status from_wire(const OutputSpec& from, lockstep::OutputSpec* to);
void to_wire(const lockstep::JobSpec& from, JobSpec* to);
Status from_wire(const JobSpec& from, lockstep::JobSpec* to);
void to_wire(const lockstep::RankExit& from, RankExit* to);
Status from_wire(const RankExit& from, lockstep::RankExit* to);
void to_wire(const lockstep::RankEnd& from, RankEnd* to);
Status from_wire(const RankEnd& from, lockstep::RankEnd* to);
void to_wire(const lockstep::LogSize& from, LogSize* to);
Status from_wire(const LogSize& from, lockstep::LogSize* to);
void to_wire(const lockstep::NodeExitReport& from, NodeExitReport* to);
Status from_wire(const NodeExitReport& from, lockstep::NodeExitReport* to);
void to_wire(const lockstep::ClockOffset& from, ClockOffset* to);
Status from_wire(const ClockOffset& from, lockstep::ClockOffset* to);
void to_wire(const lockstep::ExitReport& from, ExitReport* to);
Status from_wire(const ExitReport& from, lockstep::ExitReport* to);
// In pipeline_codec.cc: a pipeline, the task of an array, and what became of a step's outputs.
void to_wire(const lockstep::PipelineSpec& from, PipelineSpec* to);
Status from_wire(const PipelineSpec& from, lockstep::SharedPipeline* to);
void to_wire(const lockstep::ArrayTask& from, ArrayTask* to);
Status from_wire(const ArrayTask& from, lockstep::ArrayTask* to);
void to_wire(const lockstep::MergedOutput& from, MergedOutput* to);
Status from_wire(const MergedOutput& from, lockstep::MergedOutput* to);
Status read_job_status(int value, const char* field, lockstep::JobStatus* out);
Status read_priority(int value, const char* field, lockstep::Priority* out);
Status read_cause(int value, const char* field, lockstep::Cause* out);

}  // namespace lockstep::pb
