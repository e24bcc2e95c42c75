#include "launcher/state/people/fair_share.h"

#include <algorithm>
#include <cmath>

namespace lockstep::launcher {

namespace {

constexpr double kLn2 = 0.693147180559945309417;

double seconds_of(Duration duration) { return std::chrono::duration<double>(duration).count(); }

Amounts sum(const Amounts& a, double times, const Amounts& b) {
  return {a.cpus + times * b.cpus, a.gpus + times * b.gpus, a.memory + times * b.memory};
}

// The recent use of one unit by a user who has held all of a resource all the time.
double window() { return seconds_of(kUseHalfLife) / kLn2; }

// The recent use until `now`. If the clock was set back, nothing is added.
Amounts recent_at(const UserUse& use, Instant now) {
  const double elapsed = std::max(seconds_of(now - use.at), 0.0);
  const double kept = std::exp2(-elapsed / seconds_of(kUseHalfLife));
  return sum({use.recent.cpus * kept, use.recent.gpus * kept, use.recent.memory * kept},
             window() * (1 - kept), use.held);
}

double dominant(const Amounts& part, const Amounts& total) {
  const auto share = [](double of, double all) { return all > 0 ? of / all : 0; };
  return std::max({share(part.cpus, total.cpus), share(part.gpus, total.gpus),
                   share(part.memory, total.memory)});
}

Amounts amounts_of(const Inventory& inventory) {
  return {static_cast<double>(inventory.cpus.size()), static_cast<double>(inventory.gpus.size()),
          static_cast<double>(inventory.memory.count)};
}

}  // namespace

void FairShares::hold(Instant at, const std::string& pool, const std::string& user,
                      const Allotment& allotment, int by) {
  UserUse& use = pools_[pool].users[user];
  use.recent = recent_at(use, at);
  use.at = std::max(use.at, at);
  use.held =
      sum(use.held, by,
          {static_cast<double>(allotment.cpus.size()), static_cast<double>(allotment.gpus.size()),
           static_cast<double>(allotment.memory.count)});
}

void FairShares::node_changed(const std::string& pool, const Inventory& before,
                              const Inventory& after) {
  const auto found = pools_.try_emplace(pool).first;
  Amounts& total = found->second.total;
  total = sum(sum(total, -1, amounts_of(before)), 1, amounts_of(after));
  if (found->second == Pool{}) pools_.erase(found);
}

void FairShares::set_recent(const std::string& pool, const std::string& user, const Amounts& recent,
                            Instant at) {
  UserUse& use = pools_[pool].users[user];
  use.recent = recent;
  use.at = at;
}

void FairShares::forget_pool(const std::string& pool) { pools_.erase(pool); }

double FairShares::share_of(const std::string& pool, const std::string& user, Instant now) const {
  const auto of = pools_.find(pool);
  if (of == pools_.end()) return 0;
  const auto use = of->second.users.find(user);
  if (use == of->second.users.end()) return 0;
  const Amounts recent = recent_at(use->second, now);
  return dominant(use->second.held, of->second.total) +
         dominant(recent, sum({}, window(), of->second.total));
}

}  // namespace lockstep::launcher
