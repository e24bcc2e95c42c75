#pragma once
// Reads lockstep.retry.on: the name of a cause, an exit code, `exit_code: [75, 3]`, or a list of
// these. Also reads the same from a command line, separated by commas.

#include <string>

#include "common/domain/job/spec.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

// Sets `on` and `exit_codes`. Errors have the place of the item, and name the nearest cause.
Status read_retry_on(const Source& source, const YamlNode& node, RetryPolicy& policy);

// "node_lost,75" -> the same. Errors name the item.
Status read_retry_on(const std::string& text, RetryPolicy& policy);

}  // namespace lockstep::spec
