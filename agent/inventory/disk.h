#pragma once
// The free space of the file system that holds the attempts.

#include <string>

#include "common/base/bytes.h"

namespace lockstep::agent {

// The free space; 0 if it cannot be measured.
Bytes probe_disk(const std::string& home);

}  // namespace lockstep::agent
