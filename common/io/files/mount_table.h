#pragma once
// Reads the texts of /proc about mounts: proc_pid_mountinfo(5), proc_pid_fdinfo(5). Does no I/O.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::io {

struct Mount {
  std::uint64_t id = 0;  // unique among all mounts of the machine while it is mounted
  std::string device;    // the device of its file system: "8:1"
  std::string point;     // the mount's path, as the process sees it
  std::string type;      // the type of its file system: "ext4", "overlay"
  std::string options;   // the options of its file system: "rw,lowerdir=…", still escaped
};

// Reads the text of /proc/PID/mountinfo, in its order. Malformed lines are left out.
std::vector<Mount> mounts_in(const std::string& mountinfo);

// Reads Mount::id of an open file from the text of its /proc/PID/fdinfo/N; nullopt: the text lacks
// it.
std::optional<std::uint64_t> mount_id_in(const std::string& fdinfo);

// Replaces the octal escapes of these tables: \040 is a blank.
std::string unescape_mount(const std::string& text);

}  // namespace lockstep::io
