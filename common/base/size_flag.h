#pragma once
// Sizes on the command lines of daemons, where a number without a unit is surely a slip: ten bytes
// are no limit for anything, and what is beyond a limit is deleted or refused.

#include <string>

#include "common/base/bytes.h"
#include "common/base/result.h"

namespace lockstep {

// "10g", "512m"; bytes without a unit only from 1 MiB on. The error names `flag` and ends in
// `examples` ("500m or 5g").
Result<Bytes> parse_size_flag(const std::string& flag, const std::string& text,
                              const std::string& examples);

}  // namespace lockstep
