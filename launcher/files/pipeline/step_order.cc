#include "launcher/files/pipeline/step_order.h"

#include <fmt/format.h>

#include <functional>
#include <queue>

namespace lockstep::spec {

namespace {

// Reports cycles. `waits`: how many needs of each step are not in the order yet. Each waiting step
// needs another waiting step, so following the needs leads into a cycle.
void say_cycles(const Source& source, const std::vector<StepNeeds>& steps,
                const std::vector<std::size_t>& waits, Faults& faults) {
  std::vector<std::size_t> visited(steps.size(), 0);  // number of the walk that visited each step
  std::size_t walk = 0;
  for (std::size_t start = 0; start < steps.size(); ++start) {
    if (waits[start] == 0 || visited[start] != 0) continue;
    ++walk;
    std::vector<std::size_t> path;
    std::size_t at = start;
    while (visited[at] == 0) {
      visited[at] = walk;
      path.push_back(at);
      for (const auto& need : steps[at].needs)
        if (waits[need.step] != 0) {
          at = need.step;
          break;
        }
    }
    if (visited[at] != walk) continue;  // leads into a cycle that was reported
    std::string chain = steps[at].node->name;
    std::size_t first = path.size();
    do {
      --first;
      chain += fmt::format(" -> {}", steps[path[first]].node->name);
    } while (path[first] != at);
    const Place& place = steps[at].node->place;
    const bool is_alone = path.size() - first == 1;
    faults.add(place, source.error(place, fmt::format("a cycle: {}: {}",
                                                      is_alone ? "this step waits for itself"
                                                               : "these steps wait for each other",
                                                      chain)));
  }
}

}  // namespace

std::vector<std::size_t> sort_steps(const Source& source, const std::vector<StepNeeds>& steps,
                                    Faults& faults) {
  std::vector<std::size_t> waits(steps.size(), 0);
  std::vector<std::vector<std::size_t>> followers(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i)
    for (const auto& need : steps[i].needs) {
      ++waits[i];
      followers[need.step].push_back(i);
    }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (waits[i] == 0) ready.push(i);
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    const std::size_t next = ready.top();
    ready.pop();
    order.push_back(next);
    for (const std::size_t follower : followers[next])
      if (--waits[follower] == 0) ready.push(follower);
  }
  if (order.size() < steps.size()) say_cycles(source, steps, waits, faults);
  return order;
}

}  // namespace lockstep::spec
