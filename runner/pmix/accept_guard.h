#pragma once
// Who may connect to the PMIx server: processes of the account that this one runs as. libpmix 4
// listens on the loopback interface, which every account of the machine reaches, believes the ids
// that a client claims, and waits for a client that says nothing. It has no option for any of it.
// So this program's accept() stands before the C library's, and libpmix gets no other connection.
// It is called on libpmix's threads.

#include <cstdint>
#include <functional>
#include <string>

#include "common/base/result.h"

namespace lockstep::pmix {

// From now on. `turned_away`: called from any thread, after the 1st, 2nd, 4th, 8th … refusal, with
// the count and that refusal's reason.
Status guard_accept(std::function<void(std::uint64_t count, const std::string& why)> turned_away);

// Proves that each TCP port on which this process listens is guarded, by connecting to it.
Status prove_accept();

}  // namespace lockstep::pmix
