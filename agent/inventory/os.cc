#include "agent/inventory/os.h"

#include <sys/utsname.h>

#include <array>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "common/base/version.h"
#include "common/io/file_system.h"

namespace lockstep::agent {

namespace {

// The dynamic loaders of each architecture's ABI. The C library is in the folder that the link
// leads to.
constexpr std::array<const char*, 2> kLoaders{"/lib64/ld-linux-x86-64.so.2",
                                              "/lib/ld-linux-aarch64.so.1"};

// "GNU C Library (Debian GLIBC 2.36-9+deb12u10) stable release version 2.36."
std::string version_in(std::string_view library) {
  constexpr std::string_view kName = "GNU C Library ", kVersion = " release version ";
  const auto name = library.find(kName);
  if (name == std::string_view::npos) return "";
  const std::string_view line = library.substr(name, library.find('\n', name) - name);
  const auto at = line.find(kVersion);
  if (at == std::string_view::npos) return "";
  std::string_view version = line.substr(at + kVersion.size());
  version = version.substr(0, version.find_first_not_of("0123456789."));
  if (version.ends_with('.')) version.remove_suffix(1);
  return version_numbers(version) ? std::string(version) : "";
}

}  // namespace

std::string probe_glibc(const std::string& root) {
  for (const char* loader : kLoaders) {
    std::error_code error;
    const auto found = std::filesystem::canonical(root + loader, error);
    if (error) continue;
    const auto library = io::read_file(found.parent_path() / "libc.so.6");
    if (!library) continue;
    if (std::string version = version_in(*library); !version.empty()) return version;
  }
  return "";
}

OsProbe probe_os(const std::string& release_file) {
  OsProbe probe;
  utsname names{};
  if (::uname(&names) == 0) {
    probe.name = names.sysname;
    probe.kernel = names.release;
    probe.architecture = names.machine;
  }
  const auto text = io::read_file(release_file);
  if (!text) return probe;
  std::istringstream lines(*text);
  std::string line;
  while (std::getline(lines, line)) {
    constexpr std::string_view kKey = "PRETTY_NAME=";
    if (line.compare(0, kKey.size(), kKey) != 0) continue;
    std::string value = line.substr(kKey.size());
    if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'')) {
      value = value.substr(1, value.size() - 2);
    }
    if (!value.empty()) probe.name = value;
  }
  return probe;
}

}  // namespace lockstep::agent
