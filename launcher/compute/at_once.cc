#include "launcher/compute/at_once.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace lockstep::compute {

int at_once(std::size_t count, Events& events, const std::function<Outcome(std::size_t)>& work) {
  constexpr std::size_t kAtOnce = 16;
  std::atomic<std::size_t> next{0};
  std::atomic<int> failures{0};
  const auto work_on = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      const Outcome outcome = work(i);
      if (outcome.done) continue;
      ++failures;
      events.error(outcome.machine, outcome.done.error());
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < std::min(count, kAtOnce); ++i) threads.emplace_back(work_on);
  work_on();
  threads.clear();
  return failures.load();
}

}  // namespace lockstep::compute
