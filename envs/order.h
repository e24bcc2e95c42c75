#pragma once
// The protocol between an agent and lockstep-env, in lines of JSON: one Order on standard input,
// and Events on descriptor 3, of which the last is the result. The tools' output goes to standard
// output. lockstep-env is a separate process because it runs users' code as that user, and because
// it can be killed with every process that it started.

#include <optional>
#include <string>
#include <string_view>

#include "envs/provider.h"

namespace lockstep::envs {

struct Order {
  // pack: conda packages for an image, see conda/pack.h.
  enum class What { solve, build, missing, fetch, pack };
  What what = What::build;
  EnvironmentDefinition definition;
  std::optional<Lock> lock;  // the lock to build, if the definition needs one
  Site site;
  friend bool operator==(const Order&, const Order&) = default;
};

struct Event {
  std::string progress;  // a text; the last event has none
  // The last event has one of these; the result of `pack` has lock and activation.
  std::optional<Lock> lock;
  std::optional<Activation> activation;
  std::optional<Error> failed;
  std::optional<std::vector<std::string>> missing;  // see Provider::missing
  bool wants_tree = false;                          // send the build again with site.image.tree
  bool is_last() const { return lock || activation || failed || missing || wants_tree; }
};

inline constexpr int kEventsFd = 3;
inline constexpr int kLockFd = 4;  // the order's lock, if any; every process of the order holds it

std::string to_json(const Order& order);
Result<Order> order_from_json(std::string_view line);
std::string to_json(const Event& event);
Result<Event> event_from_json(std::string_view line);

std::string to_json(const Activation& activation);
Result<Activation> activation_from_json(std::string_view text);

// The code with this name, which is the same in all versions; `internal` for an unknown name.
ErrorCode error_code_from(std::string_view word);

}  // namespace lockstep::envs
