#pragma once
// The bulk socket: encodes and decodes one BulkEnvelope; see control.h.

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/domain/bulk.h"

namespace lockstep::wire {

inline constexpr std::uint32_t kBulkVersion = 1;

std::string encode(const BulkEnvelope& envelope);
Result<BulkEnvelope> decode_bulk(std::string_view bytes);

}  // namespace lockstep::wire
