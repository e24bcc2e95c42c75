#pragma once
// A finding of `lockstep doctor`: the check, its result, and the advice.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

enum class Verdict {
  ok,
  warning,  // works with limits, or only for some jobs
  problem,  // something does not work that should
};
std::string_view to_string(Verdict verdict);
std::optional<Verdict> verdict_from(std::string_view word);

struct Finding {
  std::string area;   // programs | user | launcher | node | …
  std::string check;  // "shared memory"
  Verdict verdict = Verdict::ok;
  std::string found;   // "/dev/shm has 64 MiB"
  std::string advice;  // what to do; "" if nothing is wrong
  friend bool operator==(const Finding&, const Finding&) = default;
};
using Findings = std::vector<Finding>;

bool all_well(const Findings& findings);  // Whether no finding has Verdict::problem.

// The findings as a text for people: one line for each, grouped by area, with its advice below it.
// Words of programs and files of the machine cannot change the screen, or look like another
// finding.
std::string findings_text(const Findings& findings);

}  // namespace lockstep
