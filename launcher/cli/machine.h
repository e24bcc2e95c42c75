#pragma once
// This machine's cpus and memory, and their division among several local nodes. Reading is one
// function; the division is pure.

#include <string>
#include <vector>

#include "common/base/bytes.h"

namespace lockstep::cli {

struct CpuPlace {
  int cpu = 0;
  int package = 0;
  int core = 0;  // within its package; hyperthreads share one
};

struct Machine {
  std::vector<CpuPlace> cpus;  // those this process may use
  Bytes memory;                // physical, or the container's limit
};

struct NodeShare {
  std::vector<int> cpus;  // sorted
  Bytes memory;
  std::string gpus;  // "I/N": the agent, which sees the GPUs, takes its part of them
};

Machine this_machine();

// Equal shares: whole cores where there are enough, neighbours together, no cpu twice unless there
// are more nodes than cpus.
std::vector<NodeShare> divide(Machine machine, int nodes);

}  // namespace lockstep::cli
