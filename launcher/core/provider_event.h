#pragma once
// What a provider is asked to do, and what it says while it works: the core's side of the contract
// in docs/decisions/038-providers.md.

#include <map>
#include <string>
#include <string_view>

namespace lockstep::launcher {

// The step of failures before a provider was started: the launcher lacks something.
inline constexpr std::string_view kPrepareStep = "prepare";

enum class ProviderVerb { create, remove };

struct ProviderEvent {
  enum class Kind {
    step,     // `step` begins
    running,  // the machine runs; `about` is what was found out
    absent,   // the machine is not there (any more)
    warning,
    error,  // the call failed for this machine, and goes on for the others
  };
  Kind kind = Kind::step;
  std::string machine;
  std::string step;
  std::string code;     // of an error
  std::string message;  // of a warning or error
  std::map<std::string, std::string> about;
};

}  // namespace lockstep::launcher
