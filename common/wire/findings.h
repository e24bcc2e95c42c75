#pragma once
// Findings as JSON: the output of `lockstep doctor -o json`, and of `lockstep-agent doctor` for
// `lockstep doctor`. New versions may add keys, but never remove or change one.

#include <string>

#include "common/base/result.h"
#include "common/domain/targets/finding.h"

namespace lockstep::wire {

// Writes {"ok": …, "findings": [{"area", "check", "verdict", "found", "advice"}]}, indented, with a
// final newline.
std::string encode(const Findings& findings);
Result<Findings> decode_findings(const std::string& json_text);

}  // namespace lockstep::wire
