#pragma once
// The current resource use of each user and project, summed up as facts are applied, so that
// checking a quota needs no counting. Part of State: transitions.cc changes it, and
// check_invariants counts it anew.

#include <array>
#include <cstdint>
#include <map>

#include "common/domain/job_spec.h"
#include "common/domain/quota.h"

namespace lockstep::launcher {

struct Usage {
  std::int64_t queued = 0;      // jobs in the queue
  std::int64_t running = 0;     // jobs whose last attempt has not ended
  std::int64_t nodes = 0;       // parts that have not ended
  std::int64_t cpus = 0;        // of these
  std::int64_t gpus = 0;        // the same
  std::int64_t spec_bytes = 0;  // see QuotaLimit::spec_bytes; of all jobs that are kept
  Usage& operator+=(const Usage& other);
  friend bool operator==(const Usage&, const Usage&) = default;
};
Usage operator-(const Usage& usage);
std::uint64_t of(const Usage& usage, QuotaLimit limit);  // 0 for what is not summed up

// The submitter, and the project: jobs of before projects are in the default one.
std::array<QuotaHolder, 2> holders_of(const JobSpec& spec);
std::int64_t spec_bytes(const JobSpec& spec);

class UsageTable {
 public:
  void add(const JobSpec& spec, const Usage& change);
  Usage of(const QuotaHolder& holder) const;
  // Those who take nothing are not in it.
  const std::map<QuotaHolder, Usage>& all() const { return usages_; }
  friend bool operator==(const UsageTable&, const UsageTable&) = default;

 private:
  std::map<QuotaHolder, Usage> usages_;
};

}  // namespace lockstep::launcher
