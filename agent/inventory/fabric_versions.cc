#include "agent/inventory/fabric_versions.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "agent/inventory/pci.h"
#include "common/base/trimmed.h"
#include "common/base/version.h"
#include "common/io/file_system.h"

namespace lockstep::agent {
namespace {

constexpr Bytes kMostOfPackages = mebibytes(64);
constexpr std::size_t kMostVersion = 64;
constexpr char kUnknownVersion[] = "unknown";

// Folders where distributions and vendors install libraries.
std::vector<std::string> library_folders(const std::string& root) {
  std::vector<std::string> folders;
  for (const char* folder :
       {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/lib/x86_64-linux-gnu",
        "/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib", "/usr/local/lib64",
        "/usr/local/cuda/lib64", "/usr/local/nccl/lib", "/opt/nccl/build/lib", "/opt/ucx/lib",
        "/usr/local/ucx/lib"})
    folders.push_back(root + folder);
  return folders;
}

bool is_version(std::string_view text) {
  return !text.empty() && text.size() <= kMostVersion &&
         text.find_first_not_of("0123456789.") == std::string_view::npos && text.front() != '.' &&
         text.back() != '.';
}

bool is_newer(const std::string& a, const std::string& b) {
  const auto left = version_numbers(a), right = version_numbers(b);
  return left && (!right || *left > *right);
}

// The version in the name of the newest file that begins with `lead`: "2.21.5" in
// libnccl.so.2.21.5. "": there is no file; "unknown": a file without a version.
std::string version_of_files(const std::vector<std::string>& folders, const std::string& lead) {
  std::string newest;
  for (const std::string& folder : folders) {
    const auto names = io::list_directory(folder);
    if (!names) continue;
    for (const std::string& name : *names) {
      if (!name.starts_with(lead)) continue;
      if (newest.empty()) newest = kUnknownVersion;
      if (name.size() < lead.size() + 2 || name[lead.size()] != '.') continue;
      const std::string version = name.substr(lead.size() + 1);
      const bool says_more = version.find('.') != std::string::npos;
      if (is_version(version) && says_more &&
          (newest == kUnknownVersion || is_newer(version, newest)))
        newest = version;
    }
  }
  return newest;
}

// The version in a pkg-config file: "1.13.1" of the line "Version: 1.13.1".
std::string version_of_pkg_config(const std::vector<std::string>& folders, const char* package) {
  constexpr std::string_view kKey = "Version:";
  for (const std::string& folder : folders) {
    const auto text = io::read_file(folder + "/pkgconfig/" + package + ".pc", kibibytes(64));
    if (!text) continue;
    const auto at = text->find(kKey);
    if (at == std::string::npos) continue;
    const auto line = std::string_view(*text).substr(at + kKey.size());
    const std::string_view version = trimmed(line.substr(0, line.find('\n')));
    if (is_version(version)) return std::string(version);
  }
  return "";
}

// "1.13.1" of an installed package whose version is "1.13.1-1".
std::string version_of_package(const std::string& root, std::string_view package) {
  const auto text = io::read_file(root + "/var/lib/dpkg/status", kMostOfPackages);
  if (!text) return "";
  const std::string begin = "Package: " + std::string(package) + "\n";
  auto at = text->rfind(begin, 0) == 0 ? 0 : text->find("\n" + begin);
  if (at == std::string::npos) return "";
  const std::string_view entry = std::string_view(*text).substr(at);
  const std::string_view whole = entry.substr(0, entry.find("\n\n"));
  const auto line = whole.find("\nVersion: ");
  if (line == std::string_view::npos || whole.find(" installed\n") == std::string_view::npos)
    return "";
  std::string_view version = whole.substr(line + std::string_view("\nVersion: ").size());
  version = version.substr(0, version.find('\n'));
  if (const auto epoch = version.find(':'); epoch != version.npos) version.remove_prefix(epoch + 1);
  version = version.substr(0, version.find_first_not_of("0123456789."));
  return is_version(version) ? std::string(version) : "";
}

// The version of rdma-core: libibverbs.so.1.14.44.0 has interface version 1.14 and comes from
// rdma-core 44.0.
std::string version_of_verbs(const std::vector<std::string>& folders) {
  const std::string all = version_of_files(folders, "libibverbs.so");
  constexpr std::string_view kInterface = "1.";
  if (!all.starts_with(kInterface)) return all;
  const auto second = all.find('.', kInterface.size());
  return second == std::string::npos ? kUnknownVersion : all.substr(second + 1);
}

// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.161.08  Mon …"
std::string driver_version(const std::string& sys, const std::string& proc) {
  std::string version = line_of(sys + "/module/nvidia/version");
  if (is_version(version)) return version;
  std::string line = line_of(proc + "/driver/nvidia/version");
  while (!line.empty()) {
    const std::string word = line.substr(0, line.find(' '));
    line.erase(0, std::min(line.size(), word.size() + 1));
    if (is_version(word) && word.find('.') != std::string::npos) return word;
  }
  return "";
}

std::string ucx_version(const std::string& root, const std::vector<std::string>& folders) {
  if (std::string version = version_of_pkg_config(folders, "ucx"); !version.empty()) return version;
  const std::string found = version_of_files(folders, "libucp.so");
  if (found.empty()) return "";
  // The file name of the library only has the version of its interface, so the package is asked.
  std::string version = version_of_package(root, "libucx0");
  if (version.empty()) version = version_of_package(root, "ucx");
  return version.empty() ? kUnknownVersion : version;
}

}  // namespace

FabricVersions probe_fabric_versions(const std::string& root, const std::string& sys,
                                     const std::string& proc) {
  const std::vector<std::string> folders = library_folders(root);
  FabricVersions versions;
  versions.nccl = version_of_files(folders, "libnccl.so");
  versions.ucx = ucx_version(root, folders);
  versions.verbs = version_of_verbs(folders);
  versions.nvidia_driver = driver_version(sys, proc);
  return versions;
}

}  // namespace lockstep::agent
