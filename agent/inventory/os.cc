#include "agent/inventory/os.h"

#include <sys/utsname.h>

#include <sstream>

#include "common/io/file_system.h"

namespace lockstep::agent {

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
