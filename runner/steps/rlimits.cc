#include <sys/resource.h>

#include "runner/steps/step.h"

namespace lockstep::runner {
namespace {

spawn::RlimitEntry soft_at_most(__rlimit_resource_t resource, std::uint64_t soft) {
  return {static_cast<std::uint32_t>(resource), 1, soft, RLIM_INFINITY};
}

// 0 would hold for files alone; at 1 a program that cores are piped to is not started either. The
// hard limit stays, so that a command may still say `ulimit -c`.
std::uint64_t core_limit(CoreFile core) {
  switch (core) {
    case CoreFile::off: break;
    case CoreFile::backtrace:
    case CoreFile::keep: return kMostCoreFile.count;
  }
  return 1;
}

}  // namespace

// Core files are made where the job asks for them. RDMA pins memory, so that limit goes to the hard
// one, and to no limit for root's ranks where the kernel lets us. nofile stays at its hard limit,
// because programs that close every possible descriptor would never end.
Status set_rlimits(const LaunchContext& context, RankLaunch& rank) {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  rank.process.rlimits = {
      soft_at_most(RLIMIT_CORE, core_limit(context.gang->assignment.spec.core)),
      soft_at_most(RLIMIT_MEMLOCK, RLIM_INFINITY),
      {RLIMIT_NOFILE, 1, files.rlim_max, files.rlim_max},
  };
  return {};
}

}  // namespace lockstep::runner
