#pragma once
// Findings as JSON: what `lockstep doctor -o json` prints, and what `lockstep-agent doctor` tells
// `lockstep doctor`. Keys are only added.

#include <string>

#include "common/base/result.h"
#include "common/domain/finding.h"

namespace lockstep::wire {

// {"ok": …, "findings": [{"area", "check", "verdict", "found", "advice"}]}, indented, a newline.
std::string encode(const Findings& findings);
Result<Findings> decode_findings(const std::string& json_text);

}  // namespace lockstep::wire
