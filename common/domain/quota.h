#pragma once
// How much of a launcher one user, or all jobs of one project, may take: limits that an admin sets,
// and how much of each is used. launcher/core/quotas.h applies them.

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace lockstep {

enum class QuotaLimit {
  queued_jobs,     // that wait to be placed
  running_jobs,    // that are placed and have not ended
  nodes,           // held by these
  cpus,            // the same
  gpus,            // the same
  snapshot_bytes,  // of one submission
  spec_bytes,      // of texts and variables of all jobs that are kept, beyond kFreeSpecBytes each
};
inline constexpr QuotaLimit kQuotaLimits[] = {
    QuotaLimit::queued_jobs, QuotaLimit::running_jobs,   QuotaLimit::nodes,     QuotaLimit::cpus,
    QuotaLimit::gpus,        QuotaLimit::snapshot_bytes, QuotaLimit::spec_bytes};
inline constexpr std::uint64_t kFreeSpecBytes = 4u << 10;
inline constexpr std::uint64_t kMaxQuotaValue = std::uint64_t{1} << 50;

std::string_view to_string(QuotaLimit limit);           // "running-jobs": the flag's word
bool is_in_bytes(QuotaLimit limit);                     // else a count
bool is_summed_up(QuotaLimit limit);                    // over jobs; else of one
std::string amount(QuotaLimit limit, std::uint64_t n);  // "8", "2.0 GiB"

struct QuotaHolder {
  enum class Kind { user, project };
  Kind kind = Kind::user;
  std::string name;
  friend auto operator<=>(const QuotaHolder&, const QuotaHolder&) = default;
};
std::string_view to_string(QuotaHolder::Kind kind);
std::string to_string(const QuotaHolder& holder);  // "user 'alice'"

// By limit; a limit that is missing is unlimited.
using Quota = std::map<QuotaLimit, std::uint64_t>;

// ---- requests ----------------------------------------------------------------------------------

struct SetQuota {
  QuotaHolder holder;
  Quota set;
  std::vector<QuotaLimit> unset;
  friend bool operator==(const SetQuota&, const SetQuota&) = default;
};

// ---- pictures ----------------------------------------------------------------------------------

struct QuotaView {
  struct Line {
    QuotaLimit limit = QuotaLimit::queued_jobs;
    std::optional<std::uint64_t> most;  // absent: unlimited
    bool is_default = false;            // nobody set it
    std::uint64_t used = 0;             // 0 for what is not summed up
    friend bool operator==(const Line&, const Line&) = default;
  };
  QuotaHolder holder;
  std::vector<Line> lines;  // one for each limit, in their order
  friend bool operator==(const QuotaView&, const QuotaView&) = default;
};

}  // namespace lockstep
