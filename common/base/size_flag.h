#pragma once
// Parses sizes on the command lines of daemons. A small number without a unit is refused, because
// it is a mistake: `--keep-logs 10` would keep ten bytes of logs and delete the rest.

#include <string>

#include "common/base/bytes.h"
#include "common/base/result.h"

namespace lockstep {

// Accepts "10g", "512m", and a number of bytes without a unit if that is at least 1 MiB. The error
// names `flag` and ends with `examples` ("500m or 5g").
Result<Bytes> parse_size_flag(const std::string& flag, const std::string& text,
                              const std::string& examples);

}  // namespace lockstep
