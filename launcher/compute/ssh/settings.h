#pragma once
// The settings of an ssh target: its hosts, and how they reach the launcher. All that goes into a
// command line or a path is checked here against a small alphabet.

#include <string>
#include <vector>

#include "common/base/result.h"

namespace lockstep::compute::ssh {

// A host that ssh goes through, as in ssh's -J.
struct Jump {
  std::string user = {};     // "": what ssh's configuration says
  std::string address = {};  // "": hosts are reached directly
  int port = 0;              // 0: what ssh's configuration says
  friend bool operator==(const Jump&, const Jump&) = default;
};

struct Host {
  std::string name = {};      // the machine's; the address when the settings give none
  std::string address = {};   // a host name, an IP address, or a Host of ~/.ssh/config
  std::string user = {};      // "": what ssh's configuration says
  int port = 0;               // 0: the same
  std::string key = {};       // path of a private key; "": the agent's and the default ones
  std::string password = {};  // "": none; never printed
  Jump jump = {};
  // The folder of all files of Lockstep; "": ~/.lockstep/node-LAUNCHER-TARGET.
  std::string directory = {};
};

// Whether the agent dials the launcher through a reverse tunnel, which `hold` keeps up.
enum class TunnelUse {
  automatic,  // used if the host cannot dial the launcher
  always,
  never,
};

struct Settings {
  std::vector<Host> hosts;
  TunnelUse tunnel = TunnelUse::automatic;
  std::string share = {};  // the agents' --share; "": all of each machine
};

// Reads {"hosts": [{"address": "vm1", "user": "ann", …}, …], "jump": "ann@gate:22", "tunnel":
// "auto"}. A host's own `jump` ("none": no jump) replaces the common one. Returns invalid_argument
// with the host and the key.
Result<Settings> settings_from(const std::string& settings_json);
// "[USER@]HOST[:PORT]", with brackets around an IPv6 address.
Result<Jump> jump_from(const std::string& where, const std::string& text);

}  // namespace lockstep::compute::ssh
