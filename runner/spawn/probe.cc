#include "runner/spawn/probe.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cstring>
#include <string_view>
#include <vector>

namespace lockstep::spawn {
namespace {

const char* yes_or_no(bool is_so) { return is_so ? "yes" : "no"; }

bool can_execute(const std::string& path) { return access(path.c_str(), X_OK) == 0; }

// The release in "GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36.": "2.36"; ""
// without one.
std::string release_in(std::string_view text) {
  constexpr std::string_view kLead = "release version ";
  const std::size_t at = text.find(kLead);
  if (at == text.npos) return "";
  std::string version;
  for (const char c : text.substr(at + kLead.size(), 16)) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0 && c != '.') break;
    version.push_back(c);
  }
  while (!version.empty() && version.back() == '.') version.pop_back();
  return version;
}

std::string release_of(const std::string& library) {
  const int fd = open(library.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "";
  std::string release;
  struct stat info {};
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
    const auto size = static_cast<std::size_t>(info.st_size);
    void* base = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (base != MAP_FAILED) {
      release = release_in({static_cast<const char*>(base), size});
      munmap(base, size);
    }
  }
  close(fd);
  return release;
}

// The folders that a linker searches, multiarch ones first.
std::vector<std::string> library_folders(const std::string& root) {
  std::vector<std::string> found;
  for (const char* parent : {"/lib", "/usr/lib"}) {
    DIR* folder = opendir((root + parent).c_str());
    if (folder == nullptr) continue;
    while (const dirent* entry = readdir(folder))
      if (std::strstr(entry->d_name, "-linux-gnu") != nullptr)
        found.push_back(root + parent + "/" + entry->d_name);
    closedir(folder);
  }
  for (const char* path : {"/lib64", "/usr/lib64", "/lib", "/usr/lib"})
    found.push_back(root + path);
  return found;
}

std::string glibc_release(const std::string& root) {
  for (const std::string& folder : library_folders(root))
    if (std::string release = release_of(folder + "/libc.so.6"); !release.empty()) return release;
  return "-";
}

std::string locked_memory() {
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  return limit.rlim_max == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_max);
}

}  // namespace

std::string probe(const std::string& root) {
  std::string text;
  const auto add = [&](const char* key, const std::string& value) {
    text += std::string(key) + " " + value + "\n";
  };
  add("bash", yes_or_no(can_execute(root + "/bin/bash")));
  add("sh", yes_or_no(can_execute(root + "/bin/sh")));
  add("glibc", glibc_release(root));
  add("memlock", locked_memory());
  return text;
}

}  // namespace lockstep::spawn
