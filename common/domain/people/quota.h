#pragma once
// Quotas: how much of a launcher one user, or all jobs of one project, may use. An admin sets the
// limits. launcher/core/queue/quotas.h decides what follows from them.

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/table.h"

namespace lockstep {

enum class QuotaLimit {
  queued_jobs,     // jobs that wait to be placed
  running_jobs,    // jobs that are placed and have not ended
  nodes,           // held by running jobs
  cpus,            // held by running jobs
  gpus,            // held by running jobs
  snapshot_bytes,  // the snapshot of one submission
  spec_bytes,      // texts and variables of all kept jobs, without kFreeSpecBytes for each job
  versions,        // registered versions of environments, data, models and components
  version_bytes,   // definitions and texts of these, without their files
  version_files,   // files of data, models, components and build folders, each version in full
  job_files,       // logs, outputs, checkpoints and sources of all kept jobs, in bytes
  kept_jobs,       // jobs that have ended
};
inline constexpr QuotaLimit kQuotaLimits[] = {
    QuotaLimit::queued_jobs,   QuotaLimit::running_jobs, QuotaLimit::nodes,
    QuotaLimit::cpus,          QuotaLimit::gpus,         QuotaLimit::snapshot_bytes,
    QuotaLimit::spec_bytes,    QuotaLimit::versions,     QuotaLimit::version_bytes,
    QuotaLimit::version_files, QuotaLimit::job_files,    QuotaLimit::kept_jobs};
inline constexpr std::size_t kMostQuotaLimits = 64;  // the most limits in one message
inline constexpr std::uint64_t kFreeSpecBytes = 4u << 10;
inline constexpr std::uint64_t kMaxQuotaValue = std::uint64_t{1} << 50;

Word describe(QuotaLimit limit);
std::string_view to_string(QuotaLimit limit);  // "running-jobs", as in the flag
constexpr QuotaLimit last_enumerator(QuotaLimit) { return QuotaLimit::kept_jobs; }
bool is_in_bytes(QuotaLimit limit);   // Whether the limit is in bytes; false: it is a count.
bool is_summed_up(QuotaLimit limit);  // Whether the limit holds for the sum of
                                      // all jobs; false: for each job by itself.
std::string amount(QuotaLimit limit, std::uint64_t n);  // "8", "2.0 GiB"

struct QuotaHolder {
  enum class Kind { user, project };
  Kind kind = Kind::user;
  std::string name;
  static void table(auto& s, auto&& see) {
    see(field<1>, "kind", s.kind);
    see(field<2>, "name", s.name, kUserNameRule);
  }
  friend auto operator<=>(const QuotaHolder&, const QuotaHolder&) = default;
};
Word describe(QuotaHolder::Kind kind);
std::string_view to_string(QuotaHolder::Kind kind);
constexpr QuotaHolder::Kind last_enumerator(QuotaHolder::Kind) {
  return QuotaHolder::Kind::project;
}
std::string to_string(const QuotaHolder& holder);  // "user 'alice'"

// The values of the limits that are set. A missing limit is not set.
using Quota = std::map<QuotaLimit, std::uint64_t>;

// ---- requests ----------------------------------------------------------------------------------

struct SetQuota {
  QuotaHolder holder;
  Quota set;
  std::vector<QuotaLimit> unset;
  static void table(auto& s, auto&& see) {
    see(field<1>, "holder", s.holder);
    see(field<2>, "set", s.set, {.count = kMostQuotaLimits, .doubles = true});
    see(field<3>, "unset", s.unset, {.count = kMostQuotaLimits});
  }
  friend bool operator==(const SetQuota&, const SetQuota&) = default;
};

// ---- views -------------------------------------------------------------------------------------

struct QuotaView {
  struct Line {
    QuotaLimit limit = QuotaLimit::queued_jobs;
    std::optional<std::uint64_t> most;  // absent: unlimited
    bool is_default = false;            // true: nobody set it
    std::uint64_t used = 0;             // 0 for limits that are not summed up
    static void table(auto& s, auto&& see) {
      see(field<1>, "limit", s.limit);
      see(field<2>, "most", s.most);
      see(field<3>, "is_default", s.is_default);
      see(field<4>, "used", s.used);
    }
    friend bool operator==(const Line&, const Line&) = default;
  };
  QuotaHolder holder;
  std::vector<Line> lines;  // one line for each limit, in their order
  static void table(auto& s, auto&& see) {
    see(field<1>, "holder", s.holder);
    see(by_hand<2, 77>, "lines", s.lines);
  }
  friend bool operator==(const QuotaView&, const QuotaView&) = default;
};

}  // namespace lockstep
