#include "agent/inventory/pci.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "common/base/trimmed.h"
#include "common/io/file_system.h"

namespace lockstep::agent {
namespace {

constexpr std::size_t kMostLine = 128;
constexpr Bytes kMostOfSysfs = kibibytes(64);

// "0000:03:00.0": domain (at least four digits), bus, device, function.
bool is_pci_address(std::string_view name) {
  constexpr std::size_t kBehindDomain = 8;  // ":03:00.0"
  if (name.size() < kBehindDomain + 4) return false;
  const std::string_view domain = name.substr(0, name.size() - kBehindDomain);
  const std::string_view rest = name.substr(domain.size());
  const auto is_hex = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
  return std::all_of(domain.begin(), domain.end(), is_hex) && rest[0] == ':' && rest[3] == ':' &&
         rest[6] == '.' && is_hex(rest[1]) && is_hex(rest[2]) && is_hex(rest[4]) &&
         is_hex(rest[5]) && is_hex(rest[7]);
}

// Finds the two addresses in "/sys/devices/pci0000:00/0000:00:01.0/0000:03:00.0/net/eth0".
std::string pci_path_in(const std::string& path) {
  std::string found;
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    if (part.starts_with("pci")) found.clear();  // a root complex begins a new path
    if (is_pci_address(part)) found.append(found.empty() ? "" : "/").append(part);
  }
  return found;
}

// The NUMA node of the PCI device above a virtual function's own folder (virtio0), which has none.
int numa_node_above(std::filesystem::path directory) {
  constexpr int kMostLevels = 4, kLastNode = 1 << 16;
  for (int level = 0; level < kMostLevels && directory.has_filename(); ++level) {
    const std::string file = directory.string() + "/numa_node";
    if (io::exists(file))
      return static_cast<int>(std::clamp<long long>(number_of(file, -1), -1, kLastNode));
    directory = directory.parent_path();
  }
  return -1;
}

}  // namespace

DevicePlace device_place(const std::string& directory) {
  DevicePlace place;
  std::error_code failure;
  const auto real = std::filesystem::canonical(directory, failure);
  if (failure) return place;
  place.exists = true;
  place.pci = pci_path_in(real.string());
  place.numa_node = numa_node_above(real);
  const auto driver = std::filesystem::read_symlink(directory + "/driver", failure);
  if (!failure) place.driver = driver.filename().string().substr(0, kMostLine);
  return place;
}

std::vector<FabricNuma> numa_distances(const std::string& sys) {
  std::vector<FabricNuma> all;
  const std::string root = sys + "/devices/system/node";
  const auto names = io::list_directory(root);
  if (!names) return all;
  for (const std::string& name : *names) {
    FabricNuma one;
    char rest = 0;
    if (std::sscanf(name.c_str(), "node%d%c", &one.node, &rest) != 1 || one.node < 0) continue;
    const auto text = io::read_file(fmt::format("{}/{}/distance", root, name), kMostOfSysfs);
    if (!text) continue;
    const char* next = text->c_str();
    char* end = nullptr;
    for (long value = std::strtol(next, &end, 10);
         end != next && one.distances.size() < kMaxFabricNuma;
         value = std::strtol(next, &end, 10)) {
      one.distances.push_back(static_cast<int>(std::clamp(value, 0L, 255L)));
      next = end;
    }
    all.push_back(std::move(one));
  }
  std::sort(all.begin(), all.end(),
            [](const FabricNuma& a, const FabricNuma& b) { return a.node < b.node; });
  if (all.size() > kMaxFabricNuma) all.resize(kMaxFabricNuma);
  return all;
}

std::string line_of(const std::string& path) {
  const auto text = io::read_file(path, kMostOfSysfs);
  if (!text) return "";
  const std::string_view line = trimmed(std::string_view(*text).substr(0, text->find('\n')));
  return std::string(line.substr(0, kMostLine));
}

long long number_of(const std::string& path, long long otherwise) {
  const std::string line = line_of(path);
  char* end = nullptr;
  const long long number = std::strtoll(line.c_str(), &end, 0);
  return end == line.c_str() ? otherwise : number;
}

std::vector<int> numbers_in(const std::string& directory) {
  std::vector<int> numbers;
  const auto names = io::list_directory(directory);
  if (!names) return numbers;
  for (const std::string& name : *names) {
    int number = 0;
    const char* const end = name.data() + name.size();
    const auto [stop, failure] = std::from_chars(name.data(), end, number);
    if (failure == std::errc{} && stop == end && number >= 0) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace lockstep::agent
