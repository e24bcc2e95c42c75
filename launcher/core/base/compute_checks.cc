#include "launcher/core/base/compute_checks.h"

#include <algorithm>
#include <utility>

namespace lockstep::launcher {

bool ComputeChecks::joins(const ComputeInput& input) {
  const auto same = std::find_if(waiting_.begin(), waiting_.end(), [&](const auto& entry) {
    return entry.second.ask == input.ask && entry.second.caller == input.caller;
  });
  if (same == waiting_.end()) return false;
  same->second.replies.push_back(input.reply);
  return true;
}

std::uint64_t ComputeChecks::add(const ComputeInput& input) {
  waiting_[++last_] = {input.ask, input.caller, {input.reply}};
  return last_;
}

ComputeChecks::Waiting ComputeChecks::take(std::uint64_t check) {
  auto found = waiting_.extract(check);
  return found.empty() ? Waiting{} : std::move(found.mapped());
}

bool can_be_checked(const ComputeSpec& spec) {
  return has_provider(spec) && spec.source != NodeSource::ssh;
}

bool differs_for_provider(const ComputeSpec& a, const ComputeSpec& b) {
  return a.settings != b.settings || a.size != b.size || a.scale.tier != b.scale.tier;
}

}  // namespace lockstep::launcher
