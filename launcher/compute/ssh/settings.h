#pragma once
// The hosts of an ssh target, as the provider's settings name them. All that goes into a command
// line or a path is checked here against a small alphabet.

#include <string>
#include <vector>

#include "common/base/result.h"

namespace lockstep::compute::ssh {

struct Host {
  std::string name = {};       // the machine's; the address when the settings give none
  std::string address = {};    // a host name, an IP address, or a Host of ~/.ssh/config
  std::string user = {};       // "": what ssh's configuration says
  int port = 0;                // 0: the same
  std::string key = {};        // path of a private key; "": the agent's and the default ones
  std::string password = {};   // "": none; never printed
  std::string directory = {};  // where all of Lockstep goes; "": ~/.lockstep/node-LAUNCHER-TARGET
};

// {"hosts": [{"address": "vm1", "user": "ann", …}, …]}. invalid_argument names the host and the
// key.
Result<std::vector<Host>> hosts_from(const std::string& settings_json);

}  // namespace lockstep::compute::ssh
