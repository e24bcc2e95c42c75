#pragma once
// Why one node of a gang does not reach another, in English.

#include <string_view>
#include <vector>

#include "common/domain/targets/fabric.h"
#include "launcher/words/said.h"

namespace lockstep::words {

// "n1 (10.0.0.4, eth1) cannot reach n2 (10.0.0.5) port 41999: timed out".
Said say(const PathFailure& failure, const About& about);
// The same text for nodes with these names, and with the failure's own texts as they are.
Said path_said(const PathFailure& failure, std::string_view from_name, std::string_view to_name);

// The failures of a probe for which the gang did not start.
std::vector<PathFailure> broken_paths(const ProbeResult& probe);

// The first failure in full, and the number of further ones. There is at least one.
Said say_all(const std::vector<PathFailure>& failures, const About& about);

}  // namespace lockstep::words
