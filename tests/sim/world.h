#pragma once
// Simulated time, and the state that every part of the simulation shares: the queue of events, the
// random source, counters, the trace, and the first violation that a checker found. It has one
// thread; an event is a closure that runs at its instant. It knows nothing of launchers or nodes.

#include <fmt/format.h>

#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "tests/sim/random.h"

namespace lockstep::sim {

struct Violation {
  std::string checker;  // e.g. "oracle:completed"
  std::string what;
};

using Counters = std::map<std::string, std::uint64_t>;

class World {
 public:
  World(std::uint64_t seed, bool trace) : random(seed), tracing(trace) {}

  void after(Duration delay, std::function<void()> event) {
    events_.push(Event{now + delay, ++order_, std::move(event)});
  }
  // Runs the next event; false when none is left.
  bool step();
  std::uint64_t steps() const { return steps_; }

  void count(const std::string& what) { ++counters[what]; }
  void violate(std::string checker, std::string what) {
    if (violation) return;
    trace("VIOLATION {}: {}", checker, what);
    violation = Violation{std::move(checker), std::move(what)};
  }
  template <typename... Args>
  void trace(fmt::format_string<Args...> format, Args&&... args) {
    if (!tracing) return;
    const auto text = fmt::format(format, std::forward<Args>(args)...);
    std::printf("%11.4f  %s\n", static_cast<double>((now - kStart).count()) / 1e9, text.c_str());
  }

  static constexpr Instant kStart{1'000'000'000'000};

  Instant now = kStart;
  Random random;
  Counters counters;
  std::optional<Violation> violation;
  bool tracing = false;

 private:
  struct Event {
    Instant at;
    std::uint64_t order = 0;
    std::function<void()> run;
    bool operator<(const Event& other) const {  // std::priority_queue puts the greatest first
      return at != other.at ? at > other.at : order > other.order;
    }
  };
  std::priority_queue<Event> events_;
  std::uint64_t order_ = 0;
  std::uint64_t steps_ = 0;
};

inline bool World::step() {
  if (events_.empty()) return false;
  // The queue only hands out a const reference; the closure is moved out before the pop.
  Event event = std::move(const_cast<Event&>(events_.top()));
  events_.pop();
  now = event.at;
  ++steps_;
  event.run();
  return true;
}

}  // namespace lockstep::sim
