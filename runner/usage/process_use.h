#pragma once
// Computes how much one process uses from the texts of /proc/PID/{stat,io,status}, and how much
// memory a cgroup holds from its memory.stat. Pure; formats: proc(5), cgroups(7).

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "common/base/bytes.h"

namespace lockstep::runner {

struct ProcessUse {
  int pid = 0, parent = 0;
  // the process's own time and the time of the children that it waited for
  std::uint64_t cpu_ticks = 0;
  std::uint64_t resident_pages = 0;
};
// Reads /proc/PID/stat; nullopt: the text has another form.
std::optional<ProcessUse> parse_stat(std::string_view text);

struct ProcessIo {
  std::uint64_t read = 0, written = 0;  // bytes from and to storage, also of its children
};
std::optional<ProcessIo> parse_io(std::string_view text);

// The pid by which the process knows itself, in the innermost pid namespace; nullopt: the text
// lacks it.
std::optional<int> parse_own_pid(std::string_view status);

// Anonymous memory and mapped files of the cgroup and those below it: what a process tree's
// resident memory would be if shared pages were counted once. Without the page cache.
std::optional<Bytes> parse_resident(std::string_view memory_stat);

// All descendants of `root` in `all`.
std::vector<int> tree_of(const std::vector<ProcessUse>& all, int root);

}  // namespace lockstep::runner
