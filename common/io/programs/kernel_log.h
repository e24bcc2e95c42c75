#pragma once
// Reads from the kernel's log which processes the kernel has killed, such as by its OOM killer when
// the whole machine was short of memory. Reading it needs root, or kernel.dmesg_restrict=0.

#include <string>
#include <string_view>

#include "common/base/time.h"

namespace lockstep::io {

// The newest line that says that the kernel has killed this process in the last minute, such as
// "Out of memory: Killed process 17 (python3) total-vm:…", at most kMaxKernelLine bytes; "": there
// is none, or the log may not be read. It waits for nothing.
std::string kernel_on_killed(int pid);

inline constexpr std::size_t kMaxKernelLine = 160;

// The text of a record of /dev/kmsg ("6,339,5140900,-;TEXT", the third being microseconds since the
// boot), if it says that the process was killed and is not older than `since`; otherwise "".
std::string killed_in_record(std::string_view record, int pid, Duration since);

}  // namespace lockstep::io
