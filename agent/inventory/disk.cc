#include "agent/inventory/disk.h"

#include "common/io/file_system.h"

namespace lockstep::agent {

Bytes probe_disk(const std::string& home) { return io::free_disk(home).value_or(Bytes{}); }

}  // namespace lockstep::agent
