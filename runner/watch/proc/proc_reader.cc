#include "runner/watch/proc/proc_reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>

#include "common/io/file_system.h"

namespace lockstep::runner {
namespace {

// The first `most` numbers among the names of a directory of /proc.
std::vector<int> numbers_in(const std::string& directory, std::size_t most) {
  std::vector<int> numbers;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(directory.c_str()), ::closedir);
  if (!open) return numbers;
  while (const dirent* entry = ::readdir(open.get())) {
    if (numbers.size() >= most) break;
    const std::string_view name = entry->d_name;
    const bool is_number =
        std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    if (is_number) numbers.push_back(std::atoi(entry->d_name));
  }
  return numbers;
}

std::optional<std::string> link_text(const std::string& path) {
  char target[4096];
  const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
  if (length <= 0) return std::nullopt;
  return std::string(target, static_cast<std::size_t>(length));
}

}  // namespace

std::string ProcReader::path(int pid, const std::string& file) const {
  return fmt::format("{}/proc/{}/{}", root_, pid, file);
}

std::optional<std::string> ProcReader::text(int pid, const std::string& file, Bytes limit) const {
  auto found = io::read_file(path(pid, file), limit);
  if (!found) return std::nullopt;
  return *std::move(found);
}

std::optional<ThreadStat> ProcReader::stat(int pid) const {
  const auto found = text(pid, "stat");
  return found ? parse_thread_stat(*found) : std::nullopt;
}

std::optional<BlockedCall> ProcReader::blocked_call(int pid, int thread) const {
  const auto found = text(pid, fmt::format("task/{}/syscall", thread));
  return found ? parse_blocked_call(*found) : std::nullopt;
}

std::string ProcReader::wait_channel(int pid, int thread) const {
  const auto found = text(pid, fmt::format("task/{}/wchan", thread));
  return found ? parse_wait_channel(*found) : "";
}

std::vector<int> ProcReader::threads(int pid, std::size_t most) const {
  std::vector<int> found = numbers_in(path(pid, "task"), most);
  std::sort(found.begin(), found.end(),
            [pid](int a, int b) { return (a == pid) != (b == pid) ? a == pid : a < b; });
  return found;
}

std::vector<ThreadStat> ProcReader::all() const {
  std::vector<ThreadStat> found;
  for (const int pid : numbers_in(root_ + "/proc", kMaxProcessesRead))
    if (const auto one = stat(pid)) found.push_back(*one);
  return found;
}

std::optional<Descriptor> ProcReader::descriptor(int pid, int fd) const {
  const auto link = link_text(path(pid, fmt::format("fd/{}", fd)));
  if (!link) return std::nullopt;
  return parse_descriptor(*link);
}

std::vector<Descriptor> ProcReader::descriptors(int pid) const {
  std::vector<Descriptor> found;
  for (const int fd : numbers_in(path(pid, "fd"), kMaxDescriptorsRead)) {
    auto one = descriptor(pid, fd);
    if (one && one->inode != 0) found.push_back(*std::move(one));
  }
  return found;
}

std::vector<int> ProcReader::epoll_targets(int pid, int fd, std::size_t most) const {
  const auto found = text(pid, fmt::format("fdinfo/{}", fd));
  return found ? parse_epoll_targets(*found, most) : std::vector<int>{};
}

std::vector<int> ProcReader::polled(int pid, std::uint64_t address, std::uint64_t count,
                                    std::size_t most) const {
  std::vector<int> fds;
  const io::Fd memory(::open(path(pid, "mem").c_str(), O_RDONLY | O_CLOEXEC));
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(count, most));
  if (!memory || wanted == 0 || address == 0) return fds;
  std::vector<pollfd> array(wanted);
  const ssize_t length =
      ::pread(memory.get(), array.data(), wanted * sizeof(pollfd), static_cast<off_t>(address));
  const std::size_t read = length > 0 ? static_cast<std::size_t>(length) / sizeof(pollfd) : 0;
  for (std::size_t i = 0; i < read; ++i)
    if (array[i].fd >= 0) fds.push_back(array[i].fd);
  return fds;
}

}  // namespace lockstep::runner
