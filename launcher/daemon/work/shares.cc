#include "launcher/daemon/work/shares.h"

#include <fmt/format.h>

#include "common/base/bytes.h"

namespace lockstep::launcher {
namespace {

bool exceeds(std::uint64_t had, std::uint64_t more, std::uint64_t most) {
  return more > most || had > most - more;
}

}  // namespace

Status Shares::take(const std::string& who, std::uint64_t bytes) {
  const std::lock_guard guard(mutex_);
  const auto found = of_one_.find(who);
  const Had mine = found == of_one_.end() ? Had{} : found->second;
  if (exceeds(mine.count, 1, bounds_.of_one) || exceeds(mine.bytes, bytes, bounds_.bytes_of_one))
    return make_error(ErrorCode::resource_exhausted,
                      fmt::format("{} already has {} {} with {} here, which is the most for one; "
                                  "send more when some of them are done",
                                  who, mine.count, bounds_.what, to_string(Bytes{mine.bytes})));
  if (exceeds(of_all_.count, 1, bounds_.of_all) ||
      exceeds(of_all_.bytes, bytes, bounds_.bytes_of_all))
    return make_error(ErrorCode::resource_exhausted,
                      fmt::format("the launcher already has {} {} with {}, as many as it can; try "
                                  "again in a moment",
                                  of_all_.count, bounds_.what, to_string(Bytes{of_all_.bytes})));
  add(who, bytes);
  return {};
}

void Shares::take_anyway(const std::string& who, std::uint64_t bytes) {
  const std::lock_guard guard(mutex_);
  add(who, bytes);
}

void Shares::add(const std::string& who, std::uint64_t bytes) {
  Had& mine = of_one_[who];
  ++mine.count;
  mine.bytes += bytes;
  ++of_all_.count;
  of_all_.bytes += bytes;
}

void Shares::give_back(const std::string& who, std::uint64_t bytes) {
  const std::lock_guard guard(mutex_);
  const auto mine = of_one_.find(who);
  if (mine == of_one_.end()) return;
  mine->second.bytes -= bytes;
  if (--mine->second.count == 0) of_one_.erase(mine);
  of_all_.bytes -= bytes;
  --of_all_.count;
}

std::uint64_t Shares::count() const {
  const std::lock_guard guard(mutex_);
  return of_all_.count;
}

std::uint64_t Shares::count_of(const std::string& who) const {
  const std::lock_guard guard(mutex_);
  const auto found = of_one_.find(who);
  return found == of_one_.end() ? 0 : found->second.count;
}

Result<std::shared_ptr<const void>> Shares::hold(const std::shared_ptr<Shares>& shares,
                                                 const std::string& who, std::uint64_t bytes) {
  TRY(shares->take(who, bytes));
  return std::shared_ptr<const void>(
      shares.get(), [shares, who, bytes](const void*) { shares->give_back(who, bytes); });
}

}  // namespace lockstep::launcher
