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

// The version of the machine's own GNU C library ("2.36"); "" if it has none. Read from the
// library's file, because this process may run with the one of its bundle. `root`: "", or the root
// directory of a fake.
std::string probe_glibc(const std::string& root = "");

}  // namespace lockstep::agent
