#pragma once
// The hosts file of a container: this node's own /etc/hosts, and the nodes of the gang. The file is
// bound into the container before the gang is known, so later changes are written in place.

#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/domain/runners/assignment.h"

namespace lockstep::runner {

// Makes the text. `own`: the text of this node's file. The gang's lines come before it, because on
// many machines it maps the machine's own name to the loopback address. `added`: the job's
// --add-host values, "name:address"; engines do not add them to a bound file.
std::string hosts_text(const std::string& own, const GangTable& gang,
                       const std::vector<std::string>& added = {});

// Writes the file in place: an existing file keeps its inode.
Status write_hosts(const std::string& path, const GangTable& gang,
                   const std::vector<std::string>& added);

}  // namespace lockstep::runner
