#pragma once
// Limits for the ranks of one job on one node besides cpus, memory and gpus: how many processes
// they may have, how much of their output is kept, and how much disk they may use. The job requests
// limits, and the operator of a node sets caps; the smaller value applies. Plain values.

#include <compare>
#include <optional>
#include <string>

#include "common/base/bytes.h"
#include "common/base/result.h"
#include "common/base/table.h"

namespace lockstep {

inline constexpr int kLeastPidsLimit = 16;
inline constexpr int kMostPidsLimit = 4'194'304;  // the highest pid_max of Linux

// The limits under lockstep.limits of a job file. Absent: the defaults below.
struct LimitRequest {
  std::optional<int> pids;    // processes and threads of each rank
  std::optional<Bytes> log;   // kept output of all its ranks on one node
  std::optional<Bytes> disk;  // used by its attempt's folders on one node
  // The job must not run where its limits of memory and processes cannot be enforced.
  bool required = false;
  static void table(auto& s, auto&& see) {
    see(field<1>, "pids", s.pids, {.low = kLeastPidsLimit, .high = kMostPidsLimit});
    see(field<2>, "log", s.log);
    see(field<3>, "disk", s.disk);
    see(field<63>, "required", s.required);
  }
  friend auto operator<=>(const LimitRequest&, const LimitRequest&) = default;
};

// The highest limits that a node's operator allows; 0 = the operator set no cap.
struct LimitCaps {
  int pids = 0;
  Bytes log;
  Bytes disk;
  static void table(auto& s, auto&& see) {
    see(field<1>, "pids", s.pids, {.low = 0, .high = kMostPidsLimit});
    see(field<2>, "log", s.log);
    see(field<3>, "disk", s.disk);
  }
  friend bool operator==(const LimitCaps&, const LimitCaps&) = default;
};

// The limits that apply to a job on a node.
struct Limits {
  int pids = 0;
  Bytes log;
  Bytes disk;  // 0 = none
  friend bool operator==(const Limits&, const Limits&) = default;
};

inline constexpr int kDefaultPidsLimit = 4'096;  // so that a fork bomb does not stop the node
inline constexpr Bytes kDefaultLogLimit = gibibytes(16);
inline constexpr Bytes kLeastLogLimit = mebibytes(1);
inline constexpr Bytes kLeastDiskLimit = mebibytes(16);
inline constexpr int kDefaultPidsCap = 65'536;  // used when the agent's operator sets no cap

Limits limits_of(const LimitRequest& asked, const LimitCaps& caps);

// Checks the limits. Errors begin with the key: "lockstep.limits.pids: ".
Status validate(const LimitRequest& asked);

// The number with commas: 4096 -> "4,096".
std::string with_commas(long long number);

}  // namespace lockstep
