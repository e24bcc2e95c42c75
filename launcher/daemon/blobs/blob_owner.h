#pragma once
// Decides which blobs count as a caller's own (blobs/rights.h): blobs that the caller sent, and
// blobs of trees that belong to the caller already. Pure: it depends only on the core's state.

#include <string>

#include "launcher/core/access/authority.h"
#include "launcher/core/core.h"
#include "launcher/daemon/blobs/rights.h"

namespace lockstep::launcher {

// The name under which the ledger records blobs that the caller sent. Blobs that an attempt sent
// are not its owner's.
std::string blob_owner_name(const Caller& caller);

// The caller as an owner of blobs, with the trees that may contain the blobs of their uploads.
BlobOwner blob_owner_of(const Core& core, const Caller& caller);

}  // namespace lockstep::launcher
