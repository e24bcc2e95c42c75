#pragma once
// capture_and_send() of transfer.h for callers that have not dialled the other side yet.

#include <functional>
#include <string>

#include "common/transfer/transfer.h"

namespace lockstep::transfer {

// Called when there is something to send, on the calling thread, at most once.
using Dial = std::function<Result<io::ClientSocket*>()>;
Result<Captured> capture_and_send(const Dial& dial, const std::string& directory,
                                  snapshot::CaptureOptions capture, const OnProgress& progress = {},
                                  TransferOptions options = {});

}  // namespace lockstep::transfer
