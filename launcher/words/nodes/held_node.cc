#include "launcher/words/nodes/held_node.h"

#include <fmt/format.h>

#include "common/domain/why/all/find.h"
#include "common/domain/why/all/redact.h"
#include "launcher/words/job_text.h"

namespace lockstep::words {
namespace {

constexpr std::string_view kShare =
    "jobs that ask for --cpus and --memory (lockstep.resources in a job file) share nodes";

}  // namespace

std::string held_as_a_whole(const JobId& holder) {
  return "is held as a whole by " + job_text(holder);
}

std::string help_where_held(const Why& why) {
  const auto* held = find_reason<HeldAsAWhole>(why);
  if (held == nullptr) return "";
  if (as_hidden(held->job)) return fmt::format("wait until that job ends; {}", kShare);
  return fmt::format("wait until job '{0}' ends, or cancel it: `lockstep job cancel {0}`; {1}",
                     held->job.value, kShare);
}

}  // namespace lockstep::words
