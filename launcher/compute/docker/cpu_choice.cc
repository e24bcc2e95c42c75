#include "launcher/compute/docker/cpu_choice.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <sstream>

namespace lockstep::compute::docker {

CpuChoice::CpuChoice(std::vector<int> cpus) {
  for (const int number : cpus) cpus_.push_back({number, 0});
}

void CpuChoice::add(const std::string& list) {
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, ',');) {
    int number = -1;
    std::from_chars(part.data(), part.data() + part.size(), number);
    for (Cpu& cpu : cpus_)
      if (cpu.number == number) ++cpu.uses;
  }
}

std::string CpuChoice::take(int count) {
  if (count <= 0 || static_cast<std::size_t>(count) > cpus_.size()) return "";
  std::vector<Cpu*> order;
  for (Cpu& cpu : cpus_) order.push_back(&cpu);
  std::stable_sort(order.begin(), order.end(),
                   [](const Cpu* a, const Cpu* b) { return a->uses < b->uses; });
  order.resize(static_cast<std::size_t>(count));
  std::vector<int> numbers;
  for (Cpu* cpu : order) {
    ++cpu->uses;
    numbers.push_back(cpu->number);
  }
  std::sort(numbers.begin(), numbers.end());
  // Engines read a single number as a count, so it is written as a range.
  if (count == 1) return fmt::format("{0}-{0}", numbers[0]);
  return fmt::format("{}", fmt::join(numbers, ","));
}

std::vector<int> online_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return {};
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  if (CPU_COUNT(&set) != online) return {};
  std::vector<int> cpus;
  for (int number = 0; number < CPU_SETSIZE; ++number)
    if (CPU_ISSET(static_cast<unsigned>(number), &set)) cpus.push_back(number);
  return cpus;
}

}  // namespace lockstep::compute::docker
