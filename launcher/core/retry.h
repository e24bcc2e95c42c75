#pragma once
// Whether a failed attempt is followed by another. Cause decides: the machines' faults are tried
// again, the program's never. Pure.

#include <optional>
#include <string>

#include "launcher/core/state.h"

namespace lockstep::launcher {

// A taken MASTER_PORT costs nothing, but it cannot go on for ever: beyond this it is charged.
inline constexpr int kMaxUnchargedRetries = 20;

struct Retry {
  bool charged = true;
  std::string why;
};

// nullopt: the report is the job's end.
std::optional<Retry> retry_after(const Job& job, const ExitReport& report);

}  // namespace lockstep::launcher
