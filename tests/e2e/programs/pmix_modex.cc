// A PMIx client without MPI: puts a value, and after a fence that collects nothing asks each other
// rank for its own, so that the servers must fetch it (direct modex); then fences over the even
// ranks alone.

#include <pmix.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

void require(pmix_status_t status, const char* what) {
  if (status == PMIX_SUCCESS) return;
  std::fprintf(stderr, "%s: %s\n", what, PMIx_Error_string(status));
  std::exit(1);
}

std::string value_of(unsigned rank, std::size_t bytes) {
  return "rank " + std::to_string(rank) + std::string(bytes, 'x');
}

}  // namespace

// pmix_modex [BYTES]: each rank's value has that many bytes more (they are compared).
int main(int argc, char** argv) {
  const std::size_t bytes = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10;
  pmix_proc_t self;
  require(PMIx_Init(&self, nullptr, 0), "PMIx_Init");
  pmix_proc_t all = self;
  all.rank = PMIX_RANK_WILDCARD;
  pmix_value_t* found = nullptr;
  require(PMIx_Get(&all, PMIX_JOB_SIZE, nullptr, 0, &found), "the job's size");
  const unsigned size = found->data.uint32;

  std::string text = value_of(self.rank, bytes);
  pmix_value_t value;
  value.type = PMIX_STRING;
  value.data.string = text.data();
  require(PMIx_Put(PMIX_GLOBAL, "lockstep.test", &value), "PMIx_Put");
  require(PMIx_Commit(), "PMIx_Commit");
  require(PMIx_Fence(nullptr, 0, nullptr, 0), "a fence without data");
  for (unsigned rank = 0; rank < size; ++rank) {
    pmix_proc_t other = self;
    other.rank = rank;
    require(PMIx_Get(&other, "lockstep.test", nullptr, 0, &found), "PMIx_Get");
    if (found->data.string != value_of(rank, bytes)) {
      std::fprintf(stderr, "rank %u: the value of rank %u is wrong\n", self.rank, rank);
      return 1;
    }
  }
  if (self.rank % 2 == 0) {
    std::vector<pmix_proc_t> even;
    for (unsigned rank = 0; rank < size; rank += 2) {
      even.push_back(self);
      even.back().rank = rank;
    }
    for (int i = 0; i < 20; ++i)
      require(PMIx_Fence(even.data(), even.size(), nullptr, 0), "group fence");
  }
  require(PMIx_Fence(&all, 1, nullptr, 0), "the last fence");
  std::printf("rank %u of %u: modex and fences agree\n", self.rank, size);
  require(PMIx_Finalize(nullptr, 0), "PMIx_Finalize");
  return 0;
}
