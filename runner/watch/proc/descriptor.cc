#include "runner/watch/proc/descriptor.h"

#include <charconv>

#include "common/base/cut.h"
#include "common/base/printable.h"
#include "common/domain/ranks/standing.h"

namespace lockstep::runner {
namespace {

// The number in "socket:[17]"; 0: none.
std::uint64_t inode_in(std::string_view link, std::string_view lead) {
  link.remove_prefix(lead.size());
  std::uint64_t inode = 0;
  const auto [end, error] = std::from_chars(link.data(), link.data() + link.size(), inode);
  return error == std::errc() && end != link.data() + link.size() && *end == ']' ? inode : 0;
}

std::string shown_descriptor(std::string_view link) {
  return cut(in_one_line(link.substr(0, 2 * kMaxStandingTextBytes)), kMaxStandingTextBytes - 4);
}

struct AnonymousKind {
  std::string_view name;
  DescriptorKind kind;
  std::string_view words;
};
constexpr AnonymousKind kAnonymous[] = {
    {"[eventpoll]", DescriptorKind::epoll, "several descriptors"},
    {"[eventfd]", DescriptorKind::event, "an event"},
    {"[timerfd]", DescriptorKind::timer, "a timer"},
    {"[pidfd]", DescriptorKind::event, "a process"},
    {"[signalfd]", DescriptorKind::event, "a signal"},
    {"inotify", DescriptorKind::event, "changes of files"},
};

}  // namespace

Descriptor parse_descriptor(std::string_view link) {
  constexpr std::string_view kSocket = "socket:[", kPipe = "pipe:[", kAnon = "anon_inode:";
  if (link.starts_with(kSocket))
    return {DescriptorKind::socket, inode_in(link, kSocket), "a socket"};
  if (link.starts_with(kPipe)) return {DescriptorKind::pipe, inode_in(link, kPipe), "a pipe"};
  if (link.starts_with(kAnon)) {
    for (const AnonymousKind& each : kAnonymous)
      if (link.substr(kAnon.size()).starts_with(each.name))
        return {each.kind, 0, std::string(each.words)};
    return {DescriptorKind::unknown, 0, shown_descriptor(link)};
  }
  if (!link.starts_with("/")) return {DescriptorKind::unknown, 0, shown_descriptor(link)};
  DescriptorKind kind = DescriptorKind::file;
  if (link.starts_with("/dev/nvidia") || link.starts_with("/dev/kfd") ||
      link.starts_with("/dev/dri/"))
    kind = DescriptorKind::gpu;
  else if (link.starts_with("/dev/pts/") || link.starts_with("/dev/tty"))
    kind = DescriptorKind::terminal;
  return {kind, 0, shown_descriptor(link)};
}

}  // namespace lockstep::runner
