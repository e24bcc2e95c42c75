#pragma once
// The operating system's names for itself, and the C library of its programs.

#include <string>

namespace lockstep::agent {

struct OsProbe {
  std::string name;          // PRETTY_NAME of os-release(5), else the kernel's name
  std::string kernel;        // release
  std::string architecture;  // x86_64
};

OsProbe probe_os(const std::string& release_file = "/etc/os-release");

// Version of the GNU C library that programs of this machine are loaded with ("2.36"); "" where
// they have none of it. Read out of its file: this process may have brought another one. `root`: ""
// or the root directory of a fake.
std::string probe_glibc(const std::string& root = "");

}  // namespace lockstep::agent
