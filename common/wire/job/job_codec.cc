#include "common/wire/job/job_codec.h"

#include "common/domain/job/pipeline.h"
#include "common/domain/why/all/old_texts.h"
#include "common/wire/job/environment_codec.h"
#include "common/wire/job/found_codec.h"
#include "common/wire/table_codec.h"
#include "proto/job.access.h"

namespace lockstep::pb {

LOCKSTEP_TABLE_CODEC(lockstep::After, After);
LOCKSTEP_TABLE_CODEC(lockstep::DatastorePath, DatastorePath);
LOCKSTEP_TABLE_CODEC(lockstep::DataInput, DataInput);
LOCKSTEP_TABLE_CODEC(lockstep::OutputSpec, OutputSpec);
LOCKSTEP_TABLE_CODEC(lockstep::RankExit, RankExit);
LOCKSTEP_TABLE_CODEC(lockstep::RankEnd, RankEnd);
LOCKSTEP_TABLE_CODEC(lockstep::LogSize, LogSize);
LOCKSTEP_TABLE_CODEC(lockstep::NodeExitReport, NodeExitReport);
LOCKSTEP_TABLE_CODEC(lockstep::ClockOffset, ClockOffset);

namespace {

Status read_command(const JobSpec& from, lockstep::Command* to) {
  switch (from.command_case()) {
    case JobSpec::kShell:
      return read_text(from.shell(), "command", &to->emplace<ShellCommand>().text,
                       kMaxCommandBytes);
    case JobSpec::kArgv: {
      std::size_t bytes = 0;
      for (const auto& word : from.argv().words()) bytes += word.size() + 1;
      if (bytes > kMaxCommandBytes) return bad_field("command", "is too long");
      auto& words = to->emplace<lockstep::Argv>().words;
      words.assign(from.argv().words().begin(), from.argv().words().end());
      return {};
    }
    case JobSpec::COMMAND_NOT_SET: break;
  }
  return bad_field("command", "is missing");
}

}  // namespace

void to_wire(const lockstep::JobSpec& from, JobSpec* to) {
  write_table(from, to);
  to_wire(from.retry, to->mutable_retry());
  if (from.pipeline)
    to_wire(*from.pipeline, to->mutable_pipeline());
  else if (const auto* shell = std::get_if<ShellCommand>(&from.command))
    to->set_shell(shell->text);
  else
    write_texts(std::get<lockstep::Argv>(from.command).words, to->mutable_argv()->mutable_words());
}

Status from_wire(const JobSpec& from, lockstep::JobSpec* to) {
  TRY(read_table(from, to));
  if (from.has_retry()) TRY(from_wire(from.retry(), &to->retry));
  if (!from.has_pipeline()) return read_command(from, &to->command);
  lockstep::PipelineSpec pipeline;
  TRY(from_wire(from.pipeline(), &pipeline));
  to->pipeline = std::move(pipeline);
  return {};
}

void to_wire(const lockstep::ExitReport& from, ExitReport* to) {
  write_table(from, to);
  if (from.why) to_wire(from.why, to->mutable_why_data());
}

Status from_wire(const ExitReport& from, lockstep::ExitReport* to) {
  TRY(read_table(from, to));
  if (from.has_why_data()) return from_wire(from.why_data(), &to->why);
  to->why = end_of_old(to->message, to->cause, to->node_name);
  return {};
}

}  // namespace lockstep::pb
