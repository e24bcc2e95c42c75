#pragma once
// Checks how a job names a conda channel: by a name ("conda-forge/label/dev"), or by an http, https
// or file address. Only the nodes find out whether the channel exists. Passwords in addresses are
// refused elsewhere (environment/definition.h).

#include <string_view>

#include "common/base/result.h"

namespace lockstep {

// Checks the address of a channel or of something below it: its scheme, host and port, and that the
// path of a file address is absolute. Errors begin with `address` in quotes.
Status check_address(std::string_view address);

// Refuses a text in which an address has a query or a fragment: nodes leave them out when they
// fetch files below a channel, and they may hold a secret. So the error does not print them.
Status check_no_query(std::string_view text);

// Checks a channel's name or address.
Status check_channel(std::string_view channel);

}  // namespace lockstep
