#pragma once
// The RDMA devices that a container of a job gets: what libraries open for it, and no more. The
// others in /dev/infiniband (umad, issm) manage the fabric.

#include <string>
#include <vector>

namespace lockstep::runner {

// Finds the paths of uverbs* and rdma_cm, sorted; empty: this node has no RDMA device, or no files
// for it. `dev`: /dev, or a fake of it.
std::vector<std::string> infiniband_devices(const std::string& dev = "/dev");

// The devices that our own user may open: rootless engines can pass no others to a container.
std::vector<std::string> ours_of(const std::vector<std::string>& devices);

}  // namespace lockstep::runner
