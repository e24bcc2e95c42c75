#pragma once
// The operating system's name and kernel, and the version of its C library.

#include <string>

namespace lockstep::agent {

struct OsProbe {
  std::string name;          // PRETTY_NAME of os-release(5), or the kernel's name if there is none
  std::string kernel;        // release
  std::string architecture;  // x86_64
};

OsProbe probe_os(const std::string& release_file = "/etc/os-release");

// The version of the machine's own GNU C library ("2.36"); "" if it has none. Read from the
// library's file, because this process may run with its bundle's C library. `root`: "", or the root
// directory of a fake machine.
std::string probe_glibc(const std::string& root = "");

}  // namespace lockstep::agent
