#pragma once
// Turns an Azure ML CLI v2 schedule file (YAML), with --set overrides, into a JobSchedule and the
// job file of its runs. An error lists the problems, one per line (faults.h). A line begins with
// FILE:LINE:COLUMN, or with "--set k.l=v". docs/decisions/093-schedules.md.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/job_schedule.h"
#include "launcher/spec/job_file.h"

namespace lockstep::spec {

struct ScheduleFile {
  JobSchedule schedule;        // its `job` is left empty
  std::optional<JobFile> job;  // absent: it is that of `copy_of`
  JobId copy_of = {};          // `create_job: azureml:NAME`: a job that the launcher has; "": none
  Notes notes = {};            // of keys that have no effect
  // Of keys for whose values the launcher may refuse it ("name", "trigger.time_zone", …):
  // "schedule.yml:3:7".
  std::map<std::string, std::string> where = {};
};

// The path "-" is standard input. What the job needs of this machine's files exists, as for
// load_job().
Result<ScheduleFile> load_schedule(const std::string& path,
                                   const std::vector<std::string>& overrides = {},
                                   const ReadText& read_text = read_text_file,
                                   const FindComponent& find = {});
// The same without the file system, for text from anywhere: all files come from `read_text`, as for
// parse_job().
Result<ScheduleFile> parse_schedule(const std::string& name, std::string_view text,
                                    const std::vector<std::string>& overrides = {},
                                    ReadText read_text = {}, const FindComponent& find = {});

// The launcher's error with the place of the key with which it begins, if there is one.
Error with_place(const Error& error, const ScheduleFile& file);

}  // namespace lockstep::spec
