#pragma once
// Converts --set and --remove of `job update` to the request that the launcher applies. Pure.

#include <string>
#include <vector>

#include "common/domain/messages/client_protocol.h"

namespace lockstep::cli {

// Reads changes of texts. `set`: display_name=TEXT, description=TEXT, experiment_name=TEXT or
// tags.KEY=VALUE; `remove`: the same without a value, or "tags" for all. An error names the option,
// and for a key that is fixed at submission what to do instead. The request names no job yet.
Result<AnnotateJob> read_job_changes(const std::vector<std::string>& set,
                                     const std::vector<std::string>& remove);

}  // namespace lockstep::cli
