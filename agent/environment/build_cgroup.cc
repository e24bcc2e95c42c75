#include "agent/environment/build_cgroup.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <utility>

#include "common/base/digest.h"
#include "common/io/cgroups/attempt_cgroups.h"

namespace lockstep::agent {
namespace {

constexpr std::size_t kNameBytes = 16;

// Entries of several agents on one machine may have the same key, so the name has the path's
// digest.
std::string name_of(const CacheEntry& entry) {
  return fmt::format("build-{}.{}", sha256(entry.path()).hex().substr(0, kNameBytes), ::getpid());
}

}  // namespace

BuildCgroup::BuildCgroup(const CacheEntry& entry, std::optional<Bytes> memory, int cpus, int pids)
    : record_(entry.cgroups()), memory_(memory), pids_(pids) {
  io::CgroupRequest request;
  request.name = name_of(entry);
  request.memory = memory;
  request.cpus = cpus;
  request.pids_limit = pids;
  request.record = record_;
  auto made = io::Cgroups::create(request);
  if (!made) {
    unlimited_because_ =
        fmt::format("this build runs without {}a limit on its processes: {}",
                    memory ? "the job's memory limit and " : "", made.error().message);
    return;
  }
  cgroups_ = *std::move(made);
  if (!cgroups_->limits_pids())
    unlimited_because_ =
        "this build runs without a limit on its processes: cgroups here have no pids controller";
}

BuildCgroup::~BuildCgroup() {
  if (!cgroups_) return;
  // The removal is repeated, because a killed process may have just started another one.
  if (const Status removed = io::clean_cgroups(record_); !removed)
    spdlog::warn("{}", removed.error().message);
}

Error BuildCgroup::explain(const Error& error) const {
  if (memory_ && cgroups_ && cgroups_->out_of_memory(0))
    return make_error(
        ErrorCode::unavailable,
        fmt::format(
            "making the environment needs more memory than this job's builds may "
            "have ({}); ask for more (--memory; lockstep.resources.memory in a job file). {}",
            to_string(*memory_), error.message));
  if (const long long refused = cgroups_ ? cgroups_->refused_forks(0) : 0; refused > 0)
    return make_error(
        ErrorCode::unavailable,
        fmt::format("the environment's build could not start {} of its processes or threads: this "
                    "job's builds may have at most {}; ask for more (--pids-limit; "
                    "lockstep.limits.pids in a job file). {}",
                    with_commas(refused), with_commas(pids_), error.message));
  return error;
}

std::vector<std::string> BuildCgroup::procs_files() const {
  return cgroups_ ? cgroups_->procs_files(0) : std::vector<std::string>();
}

}  // namespace lockstep::agent
