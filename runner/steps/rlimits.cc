#include <sys/resource.h>

#include "runner/steps/step.h"

namespace lockstep::runner {
namespace {

spawn::RlimitEntry soft_at_most(__rlimit_resource_t resource, std::uint64_t soft) {
  return {static_cast<std::uint32_t>(resource), 1, soft, RLIM_INFINITY};
}

// The limit for core files. A limit of 0 counts for files only; with 1 the kernel does not start a
// program that reads cores either. The hard limit stays, so that a command can still use `ulimit
// -c`.
std::uint64_t core_limit(CoreFile core) {
  switch (core) {
    case CoreFile::off: break;
    case CoreFile::backtrace:
    case CoreFile::keep: return kMostCoreFile.count;
  }
  return 1;
}

}  // namespace

// Sets limits. Core files are written if the job asks for them. RDMA pins memory, so that soft
// limit becomes the hard one, and root's ranks get no limit where the kernel allows it. nofile is
// not raised above its hard limit: programs that close every possible descriptor would never
// finish.
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
