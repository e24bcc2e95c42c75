#pragma once
// Versions of the libraries of collectives and RDMA on this node, without loading or running them:
// by names of files, by pkg-config's files, and by dpkg's list. A job's environment may bring
// others.

#include <string>

namespace lockstep::agent {

struct FabricVersions {
  std::string nccl, ucx, verbs;  // "": not there; "unknown": there, and it does not say
  std::string nvidia_driver;     // "": none is loaded
};

// `root`: before all paths of libraries; "": this machine.
FabricVersions probe_fabric_versions(const std::string& root = "", const std::string& sys = "/sys",
                                     const std::string& proc = "/proc");

}  // namespace lockstep::agent
