#pragma once
// Chooses the cpus that each container's agent offers. Agents bind ranks to the cpus that they
// offer, so containers beside each other should offer different ones.

#include <string>
#include <vector>

namespace lockstep::compute::docker {

class CpuChoice {
 public:
  // `cpus`: the cpus of this machine, in order.
  explicit CpuChoice(std::vector<int> cpus);
  // Counts a list ("0,3") that a container has.
  void add(const std::string& list);
  // The `count` cpus that the fewest have, as a list, and counts them.
  std::string take(int count);

 private:
  struct Cpu {
    int number = 0;
    int uses = 0;
  };
  std::vector<Cpu> cpus_;
};

// The online cpus; empty if this process may use only a part of them, since a container may then
// have others.
std::vector<int> online_cpus();

}  // namespace lockstep::compute::docker
