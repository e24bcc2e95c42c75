#pragma once
// The folders of PMIx and Open MPI below the attempt's tmp/:
//   pmix/           the server's files
//   pmix/job/       the namespace's session directory
//   pmix/job/<R>/   rank R's session directory
//   pmix/shm/       shared memory of Open MPI's vader

#include <string>

namespace lockstep::pmix {

struct Directories {
  static Directories below(const std::string& tmp) { return {tmp + "/pmix"}; }
  std::string server;
  std::string job() const { return server + "/job"; }
  std::string rank(int rank) const { return job() + "/" + std::to_string(rank); }
  std::string shared_memory() const { return server + "/shm"; }
};

}  // namespace lockstep::pmix
