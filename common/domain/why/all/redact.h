#pragma once
// A reason for a reader who may not know of all the jobs that it names. The names of these jobs are
// replaced wherever a reason has a job, also in the reasons within it.

#include <functional>
#include <optional>
#include <string>

#include "common/base/ids.h"
#include "common/domain/why/why.h"

namespace lockstep {

// The words that replace such a job. They are never the name of a job.
enum class HiddenJob {
  of_another_project,
  any,  // the job's existence is not told
};
JobId hidden(HiddenJob which);
std::optional<HiddenJob> as_hidden(const JobId& job);  // nullopt: the job's name is given

struct Redaction {
  std::function<bool(const JobId&)> is_hidden;
  HiddenJob as = HiddenJob::of_another_project;
  // Cuts a text that an earlier version or another program wrote: the text of Told, and the fields
  // `text` and `said`.
  std::function<std::string(std::string)> cut;
};
Why redacted(const Why& why, const Redaction& redaction);

}  // namespace lockstep
