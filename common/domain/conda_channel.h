#pragma once
// Checks how a conda channel is written: a name ("conda-forge/label/dev"), or an address of http,
// https or file. Whether the channel exists is found out by the nodes; environment.h refuses
// passwords in it.

#include <string_view>

#include "common/base/result.h"

namespace lockstep {

// Checks the address of a channel, or one below it: scheme, host, port, and that a file's path is
// absolute. All errors here begin with the address in quotes.
Status check_address(std::string_view address);

// Refuses addresses with a query or a fragment: nodes would drop them when they fetch files below
// the channel, and they may hold a secret. The error does not print them.
Status check_no_query(std::string_view text);

// A name, or an address.
Status check_channel(std::string_view channel);

}  // namespace lockstep
