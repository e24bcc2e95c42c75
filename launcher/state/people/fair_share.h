#pragma once
// How much of each pool its users hold and have held, which decides whose job goes first within a
// priority. Part of State: applier.h changes it, always with the time of a fact, so that a
// replay gives the same numbers.

#include <cstdint>
#include <map>
#include <string>

#include "common/base/time.h"
#include "common/domain/runners/assignment.h"
#include "common/domain/targets/node.h"

namespace lockstep::launcher {

// The time in which the weight of past use halves.
inline constexpr Duration kUseHalfLife = std::chrono::hours(24);

// An amount of each resource. Past use is in units of the resource times seconds.
struct Amounts {
  double cpus = 0, gpus = 0, memory = 0;
  friend bool operator==(const Amounts&, const Amounts&) = default;
};

struct UserUse {
  Amounts held;    // the resources held now; whole numbers
  Amounts recent;  // the use until `at`, each second of it halved after each kUseHalfLife
  Instant at;
  friend bool operator==(const UserUse&, const UserUse&) = default;
};

class FairShares {
 public:
  struct Pool {
    Amounts total;  // the use that all its nodes reported
    std::map<std::string, UserUse> users;
    friend bool operator==(const Pool&, const Pool&) = default;
  };

  // The user got (`by` = 1) or returned (-1) these resources of a node.
  void hold(Instant at, const std::string& pool, const std::string& user,
            const Allotment& allotment, int by);
  void node_changed(const std::string& pool, const Inventory& before, const Inventory& after);
  // Replaces the user's recent use, because the facts that showed it may have been compacted away.
  void set_recent(const std::string& pool, const std::string& user, const Amounts& recent,
                  Instant at);
  void forget_pool(const std::string& pool);

  // The user's share of the pool, from 0 (nothing) to 2. It is the share held now of the resource
  // of which the user holds most, plus the mean share held over the last kUseHalfLife / ln 2, where
  // later use counts more.
  double share_of(const std::string& pool, const std::string& user, Instant now) const;
  const std::map<std::string, Pool>& pools() const { return pools_; }

  friend bool operator==(const FairShares&, const FairShares&) = default;

 private:
  std::map<std::string, Pool> pools_;
};

}  // namespace lockstep::launcher
