#pragma once
// The bulk socket: encodes and decodes one BulkEnvelope; see control.h.

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/domain/messages/bulk_protocol.h"

namespace lockstep::wire {

inline constexpr std::uint32_t kBulkVersion = 1;

std::string encode(const BulkEnvelope& envelope);
Result<BulkEnvelope> decode_bulk(std::string_view bytes);
// Whether the message is an AttachFrame, as far as its first bytes tell. Cheap: for the order in
// which messages are handled, and for nothing else.
bool is_attach_frame(std::string_view bytes);

}  // namespace lockstep::wire
