#pragma once
// How much of each pool its users hold and have held: what decides whose job goes first within a
// priority. Part of State: transitions.cc changes it, each time with the time of a fact, so that a
// replay gives the same numbers.

#include <cstdint>
#include <map>
#include <string>

#include "common/base/time.h"
#include "common/domain/messages/assignment.h"
#include "common/domain/targets/node.h"

namespace lockstep::launcher {

// Use counts half after this time.
inline constexpr Duration kUseHalfLife = std::chrono::hours(24);

// Amounts of each resource. Use is in these times seconds.
struct Amounts {
  double cpus = 0, gpus = 0, memory = 0;
  friend bool operator==(const Amounts&, const Amounts&) = default;
};

struct UserUse {
  Amounts held;    // now; whole numbers
  Amounts recent;  // use until `at`, each second of it halved after each kUseHalfLife
  Instant at;
  friend bool operator==(const UserUse&, const UserUse&) = default;
};

class FairShares {
 public:
  struct Pool {
    Amounts total;  // of all its nodes, as they reported it
    std::map<std::string, UserUse> users;
    friend bool operator==(const Pool&, const Pool&) = default;
  };

  // The user got (`by` = 1) or gave back (-1) these resources of a node.
  void hold(Instant at, const std::string& pool, const std::string& user,
            const Allotment& allotment, int by);
  void node_changed(const std::string& pool, const Inventory& before, const Inventory& after);
  // Replaces what is known of the user's recent use: the facts that showed it may be gone.
  void set_recent(const std::string& pool, const std::string& user, const Amounts& recent,
                  Instant at);
  void forget_pool(const std::string& pool);

  // The share that the user holds of the resource of which that is most, plus the mean share held
  // over the last kUseHalfLife / ln 2, where later use counts more. 0 (nothing) to 2.
  double share_of(const std::string& pool, const std::string& user, Instant now) const;
  const std::map<std::string, Pool>& pools() const { return pools_; }

  friend bool operator==(const FairShares&, const FairShares&) = default;

 private:
  std::map<std::string, Pool> pools_;
};

}  // namespace lockstep::launcher
