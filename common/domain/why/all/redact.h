#pragma once
// A reason for a reader who may not know of all the jobs that it names. The names of those are
// replaced wherever a reason has a job, in the reasons within it too.

#include <functional>
#include <optional>
#include <string>

#include "common/base/ids.h"
#include "common/domain/why/why.h"

namespace lockstep {

// What stands for such a job. No job has such a name.
enum class HiddenJob {
  of_another_project,
  any,  // nothing is said of it
};
JobId hidden(HiddenJob which);
std::optional<HiddenJob> as_hidden(const JobId& job);  // nullopt: it is the name of a job

struct Redaction {
  std::function<bool(const JobId&)> is_hidden;
  HiddenJob as = HiddenJob::of_another_project;
  // What remains of a text that an earlier version or another program wrote: of Told, and of the
  // fields `text` and `said`.
  std::function<std::string(std::string)> cut;
};
Why redacted(const Why& why, const Redaction& redaction);

}  // namespace lockstep
