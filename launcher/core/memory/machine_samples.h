#pragma once
// What the machines of elastic targets were like that were there. Not part of State: after a
// restart the first machines tell it again.

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

// Root of a machine can say what it likes, so one machine alone settles nothing for long.
class MachineSamples {
 public:
  // The machine in the middle by size, of the last kMostSamples; of two, the larger: a GPU that
  // fell off says nothing of the next machine. Null: none is known.
  const Inventory* of(const std::string& target) const;
  void learn(const std::string& target, const std::string& machine, const Inventory& inventory);
  // A job could not run as the account on this machine.
  void lacks(const std::string& target, const std::string& machine, const std::string& account,
             const Why& why, Instant now);
  // Why jobs cannot run as the account there; null: two machines have not said so, or it is so long
  // ago that the account may have been made since.
  const Why* why_lacking(const std::string& target, const std::string& account, Instant now) const;
  // The first such account with the reason.
  std::optional<std::pair<std::string, Why>> lacking(const std::string& target, Instant now) const;
  void forget_accounts(const std::string& target) { lacking_accounts_.erase(target); }
  // It was revoked.
  void forget(const std::string& target, const std::string& machine);
  void forget(const std::string& target) {
    inventories_.erase(target);
    lacking_accounts_.erase(target);
  }

 private:
  struct Lacking {
    std::set<std::string> machines;  // that said so
    Why why;
    Instant last;
  };
  static bool counts(const Lacking& lacking, Instant now);
  std::map<std::string, std::vector<std::pair<std::string, Inventory>>> inventories_;  // by target
  std::map<std::string, std::map<std::string, Lacking>> lacking_accounts_;  // target, account
};
inline constexpr std::size_t kMostSamples = 9;
// Long enough for a second machine to be made and to say it too.
inline constexpr Duration kLackingAccountFor = minutes(30);

}  // namespace lockstep::launcher
