#pragma once
// The operating system's names for itself.

#include <string>

namespace lockstep::agent {

struct OsProbe {
  std::string name;          // PRETTY_NAME of os-release(5), else the kernel's name
  std::string kernel;        // release
  std::string architecture;  // x86_64
};

OsProbe probe_os(const std::string& release_file = "/etc/os-release");

}  // namespace lockstep::agent
