#pragma once
// The verbs of a provider, and the events that it reports while it works: the core's side of the
// contract in docs/decisions/038-providers.md.

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/time.h"
#include "common/domain/targets/machine_fault.h"
#include "common/domain/why/why.h"

namespace lockstep::launcher {

// The step of failures before a provider was started, because the launcher lacks something.
inline constexpr std::string_view kPrepareStep = "prepare";
// The steps of `create` before anything is installed on the machine.
inline constexpr std::string_view kConnectStep = "connect";
inline constexpr std::string_view kCheckStep = "check";
inline bool is_before_install(std::string_view step) {
  return step == kPrepareStep || step == kConnectStep || step == kCheckStep;
}
// A step of the launcher itself: the machine runs, and its agent has to join.
inline constexpr std::string_view kJoinStep = "join";
// The step of a failure of the call itself: it ended without a result for the machine.
inline constexpr std::string_view kCallStep = "call";

// The verb of a call. `list` is for a whole target: its call names no machine, and its results may
// be about machines that the launcher does not know.
enum class ProviderVerb { create, remove, list };

struct ProviderEvent {
  enum class Kind {
    step,     // `step` begins
    running,  // the machine runs; `about` has the provider's facts about it
    pending,  // accepted, to be made later; `why` says why not now
    absent,   // the machine does not exist (any more)
    warning,
    error,   // the call failed for this machine, and continues for the others
    notice,  // the machine will be taken away after `left`; `why` has the cause
  };
  Kind kind = Kind::step;
  std::string machine = {};
  std::string step = {};
  MachineFault fault = MachineFault::failed;  // for an error
  Why why = {};                               // for an error, a warning, a notice or `pending`
  std::map<std::string, std::string> about = {};
  Duration left = {};  // for a notice
  // For a running machine only:
  bool is_held = false;               // the provider keeps something up for it (`hold`)
  std::optional<Duration> ends = {};  // the time until the machine ends by itself
  // the whole lifetime, if the machine ends by itself; zero: the provider does not tell
  Duration lifetime{0};
};

}  // namespace lockstep::launcher
