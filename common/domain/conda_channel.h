#pragma once
// What may stand for a conda channel: a name ("conda-forge/label/dev"), or an address of http,
// https or file that nodes can ask. Whether there is such a channel is theirs to find out;
// passwords are environment.h's to refuse.

#include <string_view>

#include "common/base/result.h"

namespace lockstep {

// Of a channel's address, or of one below it: scheme, host, port, and that a file's path is
// absolute. Errors begin with `address` in quotes, as all here do.
Status check_address(std::string_view address);

// That no address in the text has a query or a fragment: nodes ask for what is below a channel
// without them, and they may be a secret. Prints nothing of them.
Status check_no_query(std::string_view text);

// A name, or an address.
Status check_channel(std::string_view channel);

}  // namespace lockstep
