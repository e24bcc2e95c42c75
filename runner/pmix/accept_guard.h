#pragma once
// Allows only processes of the account that this program runs as to connect to the PMIx server.
// libpmix 4 listens on the loopback interface, which every account of the machine reaches, trusts
// the ids that a client claims, and waits for a client that sends nothing. It has no option to
// change that. So this program defines accept(), which is found before the C library's, and libpmix
// gets only allowed connections. It is called on libpmix's threads.

#include <cstdint>
#include <functional>
#include <string>

#include "common/base/result.h"

namespace lockstep::pmix {

// Takes effect from now on. `turned_away`: called from any thread, after the 1st, 2nd, 4th, 8th …
// refusal, with the count and that refusal's reason.
Status guard_accept(std::function<void(std::uint64_t count, const std::string& why)> turned_away);

// Proves that each TCP port on which this process listens is guarded, by connecting to it.
Status prove_accept();

}  // namespace lockstep::pmix
