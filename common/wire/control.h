#pragma once
// The control and join sockets: one Envelope to bytes and back. The decoder accepts nothing that is
// out of range, and never crashes; what it returns may be trusted by everything behind it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/domain/messages.h"

namespace lockstep::wire {

std::string encode(const Envelope& envelope);

// corrupt: not a message, or a field is out of range (and named). unsupported: another protocol
// version (both are named). resource_exhausted: longer than kMaxControlMessageBytes.
Result<Envelope> decode_envelope(std::string_view bytes);

// The sequence of a message that decode_envelope refuses, so that the refusal can name what it
// answers. nullopt when not even that is readable.
std::optional<std::uint64_t> peek_sequence(std::string_view bytes);

}  // namespace lockstep::wire
