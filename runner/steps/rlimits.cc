#include <sys/resource.h>

#include "runner/steps/step.h"

namespace lockstep::runner {
namespace {

spawn::RlimitEntry raised(__rlimit_resource_t resource) {
  return {static_cast<std::uint32_t>(resource), 1, RLIM_INFINITY, RLIM_INFINITY};
}

}  // namespace

// The soft limit goes to the hard one: core dumps are wanted, and RDMA pins memory. Root's ranks
// get unlimited core and memlock where the kernel lets us; nofile stays at its hard limit, because
// programs that close every possible descriptor would never end.
Status set_rlimits(const LaunchContext&, RankLaunch& rank) {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  rank.process.rlimits = {
      raised(RLIMIT_CORE),
      raised(RLIMIT_MEMLOCK),
      {RLIMIT_NOFILE, 1, files.rlim_max, files.rlim_max},
  };
  return {};
}

}  // namespace lockstep::runner
