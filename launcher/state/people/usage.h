#pragma once
// How much the jobs and registered versions of each user and each project use now. The sums are
// updated as facts are applied, so that checking a quota does not count jobs. Part of State:
// applier.h changes it, and check_invariants counts again.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "common/base/bytes.h"
#include "common/base/digest.h"
#include "common/base/table.h"
#include "common/domain/job/spec.h"
#include "common/domain/people/quota.h"

namespace lockstep::launcher {

struct Usage {
  std::int64_t queued = 0;      // jobs in the queue
  std::int64_t running = 0;     // jobs whose last attempt has not ended
  std::int64_t nodes = 0;       // parts that have not ended
  std::int64_t cpus = 0;        // held by these parts
  std::int64_t gpus = 0;        // held by these parts
  std::int64_t spec_bytes = 0;  // for all kept jobs; see QuotaLimit::spec_bytes
  std::int64_t versions = 0;    // registered versions, and names without versions
  std::int64_t version_bytes = 0;
  std::int64_t version_files = 0;  // bytes
  // Bytes of kept jobs: what nodes reported, and each source once. Unsigned, because nodes may
  // report any numbers: a sum may wrap around, and becomes right again when they are subtracted.
  std::uint64_t job_files = 0;
  std::int64_t kept_jobs = 0;  // ended jobs without an output that waits to be written
  Usage& operator+=(const Usage& other);
  friend bool operator==(const Usage&, const Usage&) = default;
};
Usage operator-(const Usage& usage);
std::uint64_t of(const Usage& usage, QuotaLimit limit);  // 0 for limits without a sum

// A user and a project. "": the default project, which also has everything from before projects
// existed.
using QuotaHolders = std::array<QuotaHolder, 2>;
QuotaHolders holders_of(const std::string& user, const std::string& project);
QuotaHolders holders_of(const JobSpec& spec);  // The job's submitter and its project.
std::int64_t spec_bytes(const JobSpec& spec);

// A tree that was sent or found for a job, and that the launcher keeps as long as the job.
struct JobSource {
  Digest tree;
  Bytes size;  // the size of its files and directory objects
  static void table(auto& s, auto&& see) {
    see(field<1>, "tree", s.tree);
    see(field<2>, "size", s.size);
  }
  friend auto operator<=>(const JobSource&, const JobSource&) = default;
};

// The number of kept jobs with a source, for each holder. Many jobs may share one, which counts
// once.
class SourceTable {
 public:
  // Returns true if the holder had no job with this source before.
  bool add(const QuotaHolder& holder, const JobSource& source);
  // Returns true if the holder has no job with this source any more.
  bool remove(const QuotaHolder& holder, const JobSource& source);
  bool has(const QuotaHolder& holder, const Digest& tree) const;
  friend bool operator==(const SourceTable&, const SourceTable&) = default;

 private:
  std::map<std::pair<QuotaHolder, JobSource>, std::size_t> jobs_;
};

class UsageTable {
 public:
  void add(const JobSpec& spec, const Usage& change) { add(holders_of(spec), change); }
  void add(QuotaHolders holders, const Usage& change);
  void add(QuotaHolder holder, const Usage& change);
  Usage of(const QuotaHolder& holder) const;
  // Holders whose use is zero are left out.
  const std::map<QuotaHolder, Usage>& all() const { return usages_; }
  friend bool operator==(const UsageTable&, const UsageTable&) = default;

 private:
  std::map<QuotaHolder, Usage> usages_;
};

}  // namespace lockstep::launcher
