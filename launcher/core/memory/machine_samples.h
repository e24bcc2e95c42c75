#pragma once
// The inventories of recent machines of elastic targets, from which the next machine is predicted.
// Not part of State: after a restart the first machines provide them again.

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/time.h"
#include "common/domain/targets/node.h"
#include "common/domain/why/why.h"

namespace lockstep::launcher {

// What machines reported. Root of a machine can forge its inventory, so one machine alone decides
// nothing for long.
class MachineSamples {
 public:
  // The median machine by size of the last kMostSamples, to predict the next one. Of two in the
  // middle, the larger: a machine may have lost a GPU, which says nothing about the next one. Null:
  // none is known.
  const Inventory* of(const std::string& target) const;
  void learn(const std::string& target, const std::string& machine, const Inventory& inventory);
  // Notes that a job could not run as the account on this machine.
  void lacks(const std::string& target, const std::string& machine, const std::string& account,
             const Why& why, Instant now);
  // Why jobs cannot run as the account on the target's machines; null: fewer than two machines
  // reported that, or so long ago that the account may have been created since.
  const Why* why_lacking(const std::string& target, const std::string& account, Instant now) const;
  // The first account that the target's machines lack, with the reason.
  std::optional<std::pair<std::string, Why>> lacking(const std::string& target, Instant now) const;
  void forget_accounts(const std::string& target) { lacking_accounts_.erase(target); }
  // Removes the entries of a machine whose node was revoked.
  void forget(const std::string& target, const std::string& machine);
  void forget(const std::string& target) {
    inventories_.erase(target);
    lacking_accounts_.erase(target);
  }

 private:
  struct Lacking {
    std::set<std::string> machines;  // machines on which it was missing
    Why why;
    Instant last;
  };
  static bool counts(const Lacking& lacking, Instant now);
  std::map<std::string, std::vector<std::pair<std::string, Inventory>>> inventories_;  // by target
  std::map<std::string, std::map<std::string, Lacking>> lacking_accounts_;  // by target and account
};
inline constexpr std::size_t kMostSamples = 9;
// Long enough for a second machine to be made and to report the same.
inline constexpr Duration kLackingAccountFor = minutes(30);

}  // namespace lockstep::launcher
