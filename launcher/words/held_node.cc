#include "launcher/words/held_node.h"

#include <fmt/format.h>

namespace lockstep::words {
namespace {

constexpr std::string_view kHeld = "is held as a whole by ";
constexpr std::string_view kJob = "job '";
constexpr std::string_view kShare = "jobs that ask for --cpus and --memory share nodes";

}  // namespace

std::string held_as_a_whole(const JobId& holder) {
  return fmt::format("{}{}{}'", kHeld, kJob, holder.value);
}

std::string help_where_held(std::string_view reason) {
  const auto at = reason.find(kHeld);
  if (at == reason.npos) return "";
  reason.remove_prefix(at + kHeld.size());
  const auto end = reason.find('\'', kJob.size());
  if (!reason.starts_with(kJob) || end == reason.npos)
    return fmt::format("wait until that job ends; {}", kShare);
  const std::string_view holder = reason.substr(kJob.size(), end - kJob.size());
  return fmt::format("wait until job '{0}' ends, or cancel it: `lockstep job cancel {0}`; {1}",
                     holder, kShare);
}

}  // namespace lockstep::words
