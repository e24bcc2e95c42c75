#include "agent/inventory/disk.h"

#include "common/io/files/disk_space.h"

namespace lockstep::agent {

Bytes probe_disk(const std::string& home) {
  const auto space = io::disk_space(home);
  return space ? space->free : Bytes{};
}

}  // namespace lockstep::agent
