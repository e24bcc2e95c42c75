#pragma once
// The free space of the file system that holds the attempts.

#include <string>

#include "common/base/bytes.h"

namespace lockstep::agent {

// 0 when it cannot be measured.
Bytes probe_disk(const std::string& home);

}  // namespace lockstep::agent
