#pragma once
// Hosts of compute targets as people write them: [USER@]ADDRESS[:PORT]. Compute files and the
// command line share these rules. Pure, except that absolute_key uses the current folder.

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/domain/targets/compute.h"

namespace lockstep::spec {

// "vm1", "ann@vm1:2222", "ann@[fe80::1]:22". Sets address, user, port and the default name.
Result<SshHost> parse_host(const std::string& text);

// The name of a host that has none: its address, with '-' for characters that a node's name cannot
// have.
std::string default_host_name(const std::string& address);
// Nodes are also found by number, so a name of digits alone could be another node's number.
bool is_host_name_of_digits(const std::string& name);

// Reads a port; nullopt: the text is not a number from 1 to 65535.
std::optional<int> parse_port(const std::string& text);

// Fills in the settings that the host lacks from `defaults`, except name and address. A key and a
// password are alternatives: a host that has one of them takes neither.
void fill_in(SshHost& host, const SshHost& defaults);

// The absolute path of a key. A relative path is relative to `folder` ("": the current one); "~"
// stays, ssh expands it.
std::string absolute_key(const std::string& path, const std::string& folder = "");

// The message of check(host) without the host's name; "": the host is valid. To check one field,
// set only that field.
std::string fault_of_field(SshHost fields);

}  // namespace lockstep::spec
