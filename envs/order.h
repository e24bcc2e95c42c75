#pragma once
// The protocol between an agent and lockstep-env, as lines of JSON: one Order on standard input;
// Events on descriptor 3 while it works, the last of which is the result. The tools' output is on
// standard output. A process of its own, because it runs what users wrote as the user who wrote it,
// and can be killed with all that it started.

#include <optional>
#include <string>
#include <string_view>

#include "envs/provider.h"

namespace lockstep::envs {

struct Order {
  // pack: conda's packages for an image, see conda/pack.h.
  enum class What { solve, build, missing, fetch, pack };
  What what = What::build;
  EnvironmentDefinition definition;
  std::optional<Lock> lock;  // to build, when the definition needs one
  Site site;
  friend bool operator==(const Order&, const Order&) = default;
};

struct Event {
  std::string progress;  // in words; the last event has none
  // The last one has one of these; of packages that were packed it has the first two.
  std::optional<Lock> lock;
  std::optional<Activation> activation;
  std::optional<Error> failed;
  std::optional<std::vector<std::string>> missing;  // see Provider::missing
  bool wants_tree = false;                          // to build: ask again with site.image.tree
  bool is_last() const { return lock || activation || failed || missing || wants_tree; }
};

inline constexpr int kEventsFd = 3;
inline constexpr int kLockFd = 4;  // a lock that all that works on the order holds, if there is one

std::string to_json(const Order& order);
Result<Order> order_from_json(std::string_view line);
std::string to_json(const Event& event);
Result<Event> event_from_json(std::string_view line);

std::string to_json(const Activation& activation);
Result<Activation> activation_from_json(std::string_view text);

// The code with this name; internal when there is none. Names, not numbers, so that versions agree.
ErrorCode error_code_from(std::string_view word);

// Carries out the order in this process; writes events to `events`, the result last.
void carry_out(const Order& order, int events);

}  // namespace lockstep::envs
