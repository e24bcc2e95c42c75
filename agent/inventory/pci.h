#pragma once
// Finds devices of this node in /sys: their paths through PCI bridges, their NUMA nodes and
// drivers. Reads small files, each as one line.

#include <string>
#include <vector>

#include "common/domain/targets/fabric.h"

namespace lockstep::agent {

struct DevicePlace {
  std::string pci;  // "0000:00:01.0/0000:03:00.0", below its root complex; "": it is not on PCI
  int numa_node = -1;
  std::string driver;   // "mlx5_core"; "": none is bound
  bool exists = false;  // there is a device at all
};

// `directory`: a folder of /sys that is a device or a link to one.
DevicePlace device_place(const std::string& directory);

// The distances of all NUMA nodes; empty: the kernel knows none.
std::vector<FabricNuma> numa_distances(const std::string& sys);

// The file's line without blanks at its ends, at most 128 bytes; "": it cannot be read.
std::string line_of(const std::string& path);
// The number in the file, of any base; `otherwise` if it has none.
long long number_of(const std::string& path, long long otherwise);
// Names in a folder that are numbers, sorted.
std::vector<int> numbers_in(const std::string& directory);

}  // namespace lockstep::agent
