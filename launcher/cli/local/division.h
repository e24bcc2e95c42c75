#pragma once
// Divides this machine's cpus and memory among several local nodes. this_machine() reads them;
// divide() is pure.

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
  std::vector<CpuPlace> cpus;  // the cpus that this process may use
  Bytes memory;                // physical, or the container's limit
};

struct NodeShare {
  std::vector<int> cpus;  // sorted
  Bytes memory;
  std::string gpus;  // "I/N": the agent, which sees the GPUs, takes part I of N
};

Machine this_machine();

// Divides the machine into equal shares: whole cores if there are enough, neighbouring cores
// together, and no cpu twice unless there are more nodes than cpus.
std::vector<NodeShare> divide(Machine machine, int nodes);

}  // namespace lockstep::cli
