#pragma once
// The command line of ssh to a host of a compute target. Pure.

#include <string>
#include <vector>

#include "common/domain/targets/compute.h"

namespace lockstep::cli {

// "ssh", its options, "--", the address, and the command. `key` "": what ssh's configuration says.
// `known_hosts`: a file of host keys that are trusted beside the person's; "": none.
// The address stands behind "--", so it is never an option.
std::vector<std::string> ssh_words(const SshHost& host, const std::string& key,
                                   const std::vector<std::string>& command,
                                   const std::string& known_hosts = "");

// The host to connect to; `name` "": the only one. invalid_argument, not_found or conflict: why
// there is none, and what to do.
Result<SshHost> host_to_connect(const ComputeView& compute, const std::string& name);

}  // namespace lockstep::cli
