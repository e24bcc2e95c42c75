#pragma once
// Parses sizes on the command lines of daemons. A small number without a unit is refused, since it
// is a mistake: `--keep-logs 10` would keep ten bytes, and delete all other logs.

#include <string>

#include "common/base/bytes.h"
#include "common/base/result.h"

namespace lockstep {

// "10g", "512m"; bytes without a unit only from 1 MiB on. The error names `flag` and ends in
// `examples` ("500m or 5g").
Result<Bytes> parse_size_flag(const std::string& flag, const std::string& text,
                              const std::string& examples);

}  // namespace lockstep
