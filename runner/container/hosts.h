#pragma once
// The hosts file of a container: this node's own, as its runner sees it, and the other nodes of the
// gang. The file is bound into the container before the gang is known, so that it is written in
// place.

#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/domain/assignment.h"

namespace lockstep::runner {

// `own`: the text of this node's file. The gang's lines come first: on many machines a name of its
// own stands there for the loopback. `added`: --add-host of the job, "name:address"; an engine adds
// none to a file that is bound.
std::string hosts_text(const std::string& own, const GangTable& gang,
                       const std::vector<std::string>& added = {});

// Keeps the inode of a file that is there.
Status write_hosts(const std::string& path, const GangTable& gang,
                   const std::vector<std::string>& added);

}  // namespace lockstep::runner
