#pragma once
// One finding of `lockstep doctor`: what was checked, what was found, and what to do about it.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

enum class Verdict {
  ok,
  warning,  // works, but less than it could, or only some jobs
  problem,  // something that is meant to work does not
};
std::string_view to_string(Verdict verdict);
std::optional<Verdict> verdict_from(std::string_view word);

struct Finding {
  std::string area;   // programs | user | launcher | node | …
  std::string check;  // "shared memory"
  Verdict verdict = Verdict::ok;
  std::string found;   // "/dev/shm has 64 MiB"
  std::string advice;  // what to do; "" when all is well
  friend bool operator==(const Finding&, const Finding&) = default;
};
using Findings = std::vector<Finding>;

bool all_well(const Findings& findings);  // no problem among them

// For a person: a line each, by areas, and under it what to do.
std::string findings_text(const Findings& findings);

}  // namespace lockstep
