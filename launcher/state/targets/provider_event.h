#pragma once
// What a provider is asked to do, and what it says while it works: the core's side of the contract
// in docs/decisions/038-providers.md.

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/time.h"
#include "common/domain/targets/machine_fault.h"
#include "common/domain/why/why.h"

namespace lockstep::launcher {

// The step of failures before a provider was started: the launcher lacks something.
inline constexpr std::string_view kPrepareStep = "prepare";
// The steps of `create` before anything is installed.
inline constexpr std::string_view kConnectStep = "connect";
inline constexpr std::string_view kCheckStep = "check";
inline bool is_before_install(std::string_view step) {
  return step == kPrepareStep || step == kConnectStep || step == kCheckStep;
}
// The launcher's own: the machine runs, and its agent is to join.
inline constexpr std::string_view kJoinStep = "join";
// Of failures of the call itself: it ended without a word about the machine.
inline constexpr std::string_view kCallStep = "call";

// `list` is for a whole target: its call names no machine, and the results may be about machines
// that the launcher does not know.
enum class ProviderVerb { create, remove, list };

struct ProviderEvent {
  enum class Kind {
    step,     // `step` begins
    running,  // the machine runs; `about` is what was found out
    pending,  // accepted, and made later; `why` says why not now
    absent,   // the machine is not there (any more)
    warning,
    error,   // the call failed for this machine, and goes on for the others
    notice,  // somebody will take the machine away after `left`; `why` says who or why
  };
  Kind kind = Kind::step;
  std::string machine = {};
  std::string step = {};
  MachineFault fault = MachineFault::failed;  // of an error
  Why why = {};                               // of an error, a warning, a notice or `pending`
  std::map<std::string, std::string> about = {};
  Duration left = {};  // of a notice
  // Of a machine that runs:
  bool is_held = false;               // the provider keeps something up for it (`hold`)
  std::optional<Duration> ends = {};  // in so long, by itself
  Duration lifetime{0};               // of one that ends by itself; zero: it does not say
};

}  // namespace lockstep::launcher
