#pragma once
// The shell scripts that run on an attached host, for POSIX sh and the tools of any Linux
// (coreutils or busybox). Each begins by finding the directory that holds everything of ours; what
// they print is read by parse_report. Values in them are checked by settings.h, contract.h and
// endpoints.h, and quoted.

#include <cstdint>
#include <map>
#include <string>

#include "launcher/compute/contract.h"
#include "launcher/compute/ssh/settings.h"

namespace lockstep::compute::ssh {

// The values in the scripts.
struct Install {
  std::string tag;        // "LAUNCHER TARGET MACHINE": whose the directory is
  std::string directory;  // absolute; "": ~/.lockstep/node-…, for root /var/lib/lockstep/node-…
  std::string folder;     // "node-LAUNCHER-TARGET"
  std::string name;       // the node's
  std::string bundle;     // 16 hexadecimal digits: which archive is to be installed
  std::string unit;       // the systemd unit's, where systemd keeps the agent running
  std::string share = {};  // the agent's --share of the machine; "": all
};

// Reports the state of the host and changes nothing there. `dial`: the launcher's addresses, if the
// script is to test whether the host can connect to them. The test is skipped where an agent is
// connected to its launcher already.
std::string probe_script(const Install& install, const std::optional<Endpoints>& dial);
// One command line without single quotes: unpacks the archive on its standard input beside the
// existing files. The exit code tells whether the agent in it runs on this host.
std::string unpack_command(const Install& install);
struct Start {
  // The token with which the agent joins, or learns the launcher's new address; "": none.
  std::string token;
  std::string control;  // the control endpoint at which it shall be connected; "": at any
  bool tunnelled = false;
  bool restarts = false;  // ends an agent that runs, since it needs other arguments
};
// Starts the agent of the unpacked bundle, unless it runs already, and waits until it is connected
// to the launcher at `control`. Its last lines are what the agent logged when it was not. Through a
// tunnel it tells other nodes the address at which ssh reached this host, since its route to the
// launcher says nothing.
std::string start_script(const Install& install, const Start& start);
// Ends every process in the directory, and removes it.
std::string remove_script(const Install& install);
// A script that prints the ports of the host's loopback at which the tunnel ends. It ends the ssh
// session of an older connection, which may still hold them. `chooses`: if no ports are given, it
// chooses free ones.
std::string tunnel_script(const Install& install, bool chooses);
// Makes a script that prints which of the tunnel's ports are listened on, and which of them from
// other hosts too.
std::string tunnel_ports_script(int port);

// Lines "KEY VALUE" between "lockstep-begin" and "lockstep-end"; a host may print anything around
// them. Bounded; empty when the marks are missing.
using Report = std::map<std::string, std::string>;
Report parse_report(const std::string& text);
std::string text_of(const Report& report, const char* key);     // "": it is not there
std::int64_t number_of(const Report& report, const char* key);  // -1: the value is not a number

std::string words_of_share(const Install& install);  // the value of the agent's --share

// The beginning of each script: `$d`, and functions for the agent on the host.
std::string script_head(const Install& install);

inline constexpr int kTunnelPorts = 3;  // control, bulk, join

}  // namespace lockstep::compute::ssh
