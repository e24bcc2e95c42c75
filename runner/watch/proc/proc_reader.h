#pragma once
// The files of /proc that the watch reads: texts, links of descriptors, lists. Each reading is
// bounded, and none opens what a process has open. A process that has ended, or that may not be
// looked at, is as if it had nothing.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/bytes.h"
#include "runner/watch/proc/descriptor.h"
#include "runner/watch/proc/proc_texts.h"

namespace lockstep::runner {

inline constexpr std::size_t kMaxDescriptorsRead = 2'048;  // the most descriptors of one process
inline constexpr std::size_t kMaxProcessesRead = 32'768;   // the most processes of the machine

class ProcReader {
 public:
  // `root`: "", or the root directory of a fake machine.
  explicit ProcReader(std::string root = "") : root_(std::move(root)) {}

  // Reads a file of a process. `file`: below /proc/PID, as "stat" or "task/17/syscall".
  std::optional<std::string> text(int pid, const std::string& file,
                                  Bytes limit = kibibytes(256)) const;
  std::optional<ThreadStat> stat(int pid) const;
  std::optional<BlockedCall> blocked_call(int pid, int thread) const;
  std::string wait_channel(int pid, int thread) const;
  // The thread ids, the first thread first.
  std::vector<int> threads(int pid, std::size_t most) const;
  // The state of all processes; threads are left out.
  std::vector<ThreadStat> all() const;

  std::optional<Descriptor> descriptor(int pid, int fd) const;
  // Sockets and pipes that a process has, with their inodes.
  std::vector<Descriptor> descriptors(int pid) const;
  std::vector<int> epoll_targets(int pid, int fd, std::size_t most) const;
  // The descriptors of an array of pollfd in the process's memory.
  std::vector<int> polled(int pid, std::uint64_t address, std::uint64_t count,
                          std::size_t most) const;

  const std::string& root() const { return root_; }

 private:
  std::string path(int pid, const std::string& file) const;

  const std::string root_;
};

}  // namespace lockstep::runner
