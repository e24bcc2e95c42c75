#pragma once
// Tells what a descriptor of a process is, from the text of its link in /proc/PID/fd. Pure. The
// process may choose the path, so it is made printable and cut.

#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep::runner {

enum class DescriptorKind { unknown, file, pipe, socket, epoll, event, timer, gpu, terminal };

struct Descriptor {
  DescriptorKind kind = DescriptorKind::unknown;
  std::uint64_t inode = 0;  // the inode of a pipe or a socket
  std::string text;         // the object for people: "/data/a.bin", "a pipe", "a socket"
  friend bool operator==(const Descriptor&, const Descriptor&) = default;
};
Descriptor parse_descriptor(std::string_view link);

}  // namespace lockstep::runner
