#pragma once
// The shell scripts that run on an attached host, for POSIX sh and the tools of any Linux
// (coreutils or busybox). Each begins by finding the directory that holds everything of ours; what
// they print is read by parse_report. Values in them are checked by settings.h and contract.h, and
// quoted.

#include <cstdint>
#include <map>
#include <string>

#include "launcher/compute/contract.h"
#include "launcher/compute/ssh/settings.h"

namespace lockstep::compute::ssh {

// What the scripts need to know.
struct Install {
  std::string tag;        // "LAUNCHER TARGET MACHINE": whose the directory is
  std::string directory;  // absolute; "": ~/.lockstep/node-…, for root /var/lib/lockstep/node-…
  std::string folder;     // "node-LAUNCHER-TARGET"
  std::string name;       // the node's
  std::string bundle;     // 16 hexadecimal digits: which archive is to be installed
};

// Looks at the host and changes nothing.
std::string probe_script(const Install& install);
// One command line without single quotes: unpacks the archive on its standard input beside what is
// there. The exit code says whether the agent in it runs on this host.
std::string unpack_command(const Install& install);
// Starts the agent of the unpacked bundle, unless it runs already, and waits until it has joined.
// Its last lines are what the agent logged when it did not.
std::string start_script(const Install& install, const std::string& token);
// Ends every process in the directory, and removes it.
std::string remove_script(const Install& install);

// Lines "KEY VALUE" between "lockstep-begin" and "lockstep-end"; a host may print anything around
// them. Bounded; empty when the marks are missing.
using Report = std::map<std::string, std::string>;
Report parse_report(const std::string& text);

}  // namespace lockstep::compute::ssh
