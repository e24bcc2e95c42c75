#include "common/domain/ranks/limits.h"

#include <algorithm>

namespace lockstep {

namespace {

Error invalid(std::string message) {
  return make_error(ErrorCode::invalid_argument, std::move(message));
}

Status at_least(const char* key, const std::optional<Bytes>& asked, Bytes least) {
  if (!asked || *asked >= least) return {};
  return invalid(std::string(key) + ": is " + to_string(*asked) + "; must be at least " +
                 to_string(least));
}

Bytes smaller(Bytes asked, Bytes cap) { return cap.count == 0 ? asked : std::min(asked, cap); }

}  // namespace

Limits limits_of(const LimitRequest& asked, const LimitCaps& caps) {
  Limits limits;
  limits.pids = asked.pids.value_or(kDefaultPidsLimit);
  if (caps.pids != 0) limits.pids = std::min(limits.pids, caps.pids);
  limits.log = smaller(asked.log.value_or(kDefaultLogLimit), caps.log);
  limits.disk = asked.disk ? smaller(*asked.disk, caps.disk) : caps.disk;
  return limits;
}

Status validate(const LimitRequest& asked) {
  if (asked.pids && (*asked.pids < kLeastPidsLimit || *asked.pids > kMostPidsLimit))
    return invalid("lockstep.limits.pids: is " + std::to_string(*asked.pids) + "; must be " +
                   std::to_string(kLeastPidsLimit) + " to " + with_commas(kMostPidsLimit));
  TRY(at_least("lockstep.limits.log", asked.log, kLeastLogLimit));
  return at_least("lockstep.limits.disk", asked.disk, kLeastDiskLimit);
}

std::string with_commas(long long number) {
  std::string text = std::to_string(number);
  for (auto at = static_cast<long>(text.size()) - 3; at > (number < 0 ? 1 : 0); at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

}  // namespace lockstep
