#include "runner/watch/proc/loaded_versions.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "common/io/beneath.h"
#include "common/io/file_system.h"

namespace lockstep::runner {
namespace {

constexpr Bytes kMostMaps = mebibytes(8);
constexpr std::size_t kMaxVersionBytes = 64;
constexpr std::size_t kMaxVersionFile = 4096;
constexpr std::string_view kDistInfo = ".dist-info";

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }
std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? std::string_view() : path.substr(0, slash);
}

bool is_version_character(unsigned char c) {
  return std::isalnum(c) != 0 || c == '.' || c == '+' || c == '-' || c == '_';
}

std::string checked_version(std::string_view text) {
  const bool is_version = !text.empty() && text.size() <= kMaxVersionBytes &&
                          std::all_of(text.begin(), text.end(), is_version_character);
  return is_version ? std::string(text) : "";
}

// Opens a folder of the process's own file system without following links; empty if it cannot be
// opened.
io::Fd open_in_process(const ProcReader& proc, int pid, std::string_view path, int flags) {
  const io::Fd root(::open(fmt::format("{}/proc/{}/root", proc.root(), pid).c_str(),
                           O_PATH | O_DIRECTORY | O_CLOEXEC));
  while (path.starts_with('/')) path.remove_prefix(1);
  if (!root || path.empty() || path.find("..") != path.npos) return io::Fd();
  return io::open_beneath(root.get(), std::string(path), flags | O_CLOEXEC);
}

// The version of NCCL: nvidia/nccl/lib/libnccl.so.2 is three folders below the version files that
// pip writes.
std::string nccl_version(const ProcReader& proc, int pid, const std::string& path) {
  if (const std::string own = version_in_name(path); own.find('.') != own.npos) return own;
  const std::string_view packages = folder_of(folder_of(folder_of(folder_of(path))));
  const io::Fd folder = open_in_process(proc, pid, packages, O_RDONLY | O_DIRECTORY);
  if (!folder) return version_in_name(path);
  const auto names = io::list_directory(fmt::format("/proc/self/fd/{}", folder.get()));
  const std::string found = names ? nccl_version_among(*names) : "";
  return found.empty() ? version_in_name(path) : found;
}

// The version of torch: torch/lib/libtorch.so is near torch/version.py.
std::string torch_version(const ProcReader& proc, int pid, const std::string& path) {
  const std::string file = std::string(folder_of(folder_of(path))) + "/version.py";
  const io::Fd fd = open_in_process(proc, pid, file, O_RDONLY | O_NONBLOCK);
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return "";
  char text[kMaxVersionFile];
  const ssize_t length = ::read(fd.get(), text, sizeof text);
  return length > 0 ? version_in_python({text, static_cast<std::size_t>(length)}) : "";
}

}  // namespace

// "7f00-7f10 r-xp 00000000 08:01 42    /usr/lib/libmpi.so.40.30.4"
LoadedLibraries parse_maps(std::string_view maps) {
  LoadedLibraries found;
  while (!maps.empty()) {
    const std::size_t end = std::min(maps.find('\n'), maps.size());
    const std::string_view line = maps.substr(0, end);
    maps.remove_prefix(std::min(end + 1, maps.size()));
    const std::size_t slash = line.find('/');
    if (slash == line.npos) continue;
    const std::string_view path = line.substr(slash), name = file_name(path);
    const auto take = [&](std::string& into, std::string_view lead) {
      if (into.empty() && name.starts_with(lead)) into = path;
    };
    take(found.mpi, "libmpi.so");
    take(found.mpi, "libmpich.so");
    take(found.nccl, "libnccl.so");
    take(found.torch, "libtorch_cpu.so");
    take(found.torch, "libtorch.so");
  }
  return found;
}

std::string version_in_name(std::string_view path) {
  const std::string_view name = file_name(path);
  const std::size_t so = name.find(".so.");
  return so == name.npos ? "" : checked_version(name.substr(so + 4));
}

std::string nccl_version_among(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (!name.starts_with("nvidia_nccl") || !name.ends_with(kDistInfo)) continue;
    const std::size_t dash = name.find('-');
    if (dash == name.npos || dash + 1 + kDistInfo.size() >= name.size()) continue;
    return checked_version(
        std::string_view(name).substr(dash + 1, name.size() - kDistInfo.size() - dash - 1));
  }
  return "";
}

std::string version_in_python(std::string_view text) {
  constexpr std::string_view kName = "__version__";
  const std::size_t at = text.find(kName);
  if (at == text.npos) return "";
  const std::size_t open = text.find_first_of("'\"\n", at + kName.size());
  if (open == text.npos || text[open] == '\n') return "";
  const std::size_t close = text.find(text[open], open + 1);
  return close == text.npos ? "" : checked_version(text.substr(open + 1, close - open - 1));
}

Versions read_versions(const ProcReader& proc, int pid) {
  Versions versions;
  const auto maps = proc.text(pid, "maps", kMostMaps);
  if (!maps) return versions;
  const LoadedLibraries loaded = parse_maps(*maps);
  const std::string mpi = version_in_name(loaded.mpi);
  if (!loaded.mpi.empty()) versions.mpi = mpi.empty() ? "unknown" : mpi;
  if (!loaded.nccl.empty()) versions.nccl = nccl_version(proc, pid, loaded.nccl);
  if (!loaded.torch.empty()) versions.torch = torch_version(proc, pid, loaded.torch);
  return versions;
}

}  // namespace lockstep::runner
