#include "runner/watch/proc/thread_look.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace lockstep::runner {
namespace {

struct ChannelMeaning {
  std::string_view part;  // a part of the kernel function's name
  WaitsOn on;
  std::string_view call;
};
// The meanings of wait channels, used if /proc/PID/syscall cannot be read. The first that matches
// counts.
constexpr ChannelMeaning kChannels[] = {
    {"futex", WaitsOn::lock, "futex"},
    {"nanosleep", WaitsOn::timer, "nanosleep"},
    {"nsleep", WaitsOn::timer, "nanosleep"},
    {"pipe_", WaitsOn::pipe, "read"},
    {"do_wait", WaitsOn::child, "wait"},
    {"csk_accept", WaitsOn::listener, "accept"},
    {"wait_for_connect", WaitsOn::unknown, "connect"},
    {"inet_stream_connect", WaitsOn::unknown, "connect"},
    {"unix_stream", WaitsOn::other, "recvmsg"},
    {"sk_wait_data", WaitsOn::unknown, "recvmsg"},
    {"tcp_recvmsg", WaitsOn::unknown, "recvmsg"},
    {"ep_poll", WaitsOn::unknown, "epoll_wait"},
    {"poll_schedule", WaitsOn::unknown, "poll"},
    {"do_poll", WaitsOn::unknown, "poll"},
    {"do_select", WaitsOn::unknown, "select"},
    {"sigtimedwait", WaitsOn::signal, "sigtimedwait"},
    {"pause", WaitsOn::signal, "pause"},
    {"n_tty_read", WaitsOn::terminal, "read"},
    {"folio_wait", WaitsOn::file, ""},
    {"wait_on_page", WaitsOn::file, ""},
    {"io_schedule", WaitsOn::file, ""},
    {"rpc_wait", WaitsOn::file, ""},
    {"nfs", WaitsOn::file, ""},
    {"fuse", WaitsOn::file, ""},
    {"jbd2", WaitsOn::file, ""},
};

ThreadLook look_by_channel(char state, const std::string& channel) {
  ThreadLook look;
  look.state = state;
  for (const ChannelMeaning& each : kChannels) {
    if (channel.find(each.part) == std::string::npos) continue;
    look.on = each.on;
    look.call = each.call;
    break;
  }
  return look;
}

WaitsOn waits_on(DescriptorKind kind) {
  switch (kind) {
    case DescriptorKind::file: return WaitsOn::file;
    case DescriptorKind::pipe: return WaitsOn::pipe;
    case DescriptorKind::socket: return WaitsOn::other;  // a Unix socket, or one of another family
    case DescriptorKind::epoll: return WaitsOn::unknown;
    case DescriptorKind::event: return WaitsOn::lock;
    case DescriptorKind::timer: return WaitsOn::timer;
    case DescriptorKind::gpu: return WaitsOn::gpu;
    case DescriptorKind::terminal: return WaitsOn::terminal;
    case DescriptorKind::unknown: return WaitsOn::unknown;
  }
  return WaitsOn::unknown;
}

struct Target {
  WaitsOn on = WaitsOn::unknown;
  std::string far, near;
  std::uint64_t inode = 0;
  bool connects = false;
};

Target target_of(int fd, DescriptorSource& source) {
  const Descriptor descriptor = source.descriptor(fd);
  Target target{waits_on(descriptor.kind), descriptor.text, "", descriptor.inode, false};
  const TcpSocket* const socket =
      descriptor.kind == DescriptorKind::socket ? source.socket(descriptor.inode) : nullptr;
  if (socket == nullptr) return target;
  target.on = source.kind_of(*socket);
  target.connects = socket->state == TcpState::connecting;
  if (target.on == WaitsOn::listener) {
    target.far = to_string(socket->near);
  } else {
    target.far = to_string(socket->far);
    target.near = to_string(socket->near);
  }
  return target;
}

// The weight of a descriptor: of several, the most telling one counts. Others in an event loop,
// such as the pipe that wakes it, tell nothing.
int weight(const Target& target) {
  if (target.connects) return 9;
  switch (target.on) {
    case WaitsOn::peer: return 8;
    case WaitsOn::store: return 7;
    case WaitsOn::listener: return 6;
    case WaitsOn::other: return 5;
    case WaitsOn::gpu: return 4;
    case WaitsOn::child:
    case WaitsOn::file:
    case WaitsOn::terminal:
    case WaitsOn::pipe: return 3;
    case WaitsOn::timer:
    case WaitsOn::signal: return 2;
    case WaitsOn::lock: return 1;
    case WaitsOn::nothing:
    case WaitsOn::unknown: return 0;
  }
  return 0;
}

void take_target(const Target& target, ThreadLook* look) {
  look->on = target.on;
  look->far = target.far;
  look->near = target.near;
  look->inode = target.inode;
}

void look_at_polled(const std::vector<int>& fds, DescriptorSource& source, ThreadLook* look) {
  std::optional<Target> best;
  std::size_t alike = 0;
  for (std::size_t i = 0; i < std::min(fds.size(), kMaxPolled); ++i) {
    Target target = target_of(fds[i], source);
    if (target.on == WaitsOn::pipe && source.has_both_ends(target.inode)) target.on = WaitsOn::lock;
    if (!best || weight(target) > weight(*best)) {
      best = std::move(target);
      alike = 1;
    } else if (weight(target) == weight(*best)) {
      ++alike;
    }
  }
  if (!best) return;
  take_target(*best, look);
  if (best->connects) look->call = "connect";
  if (alike == 1) return;
  look->near.clear();
  look->inode = 0;
  if (best->on == WaitsOn::peer || best->on == WaitsOn::other)
    look->far = fmt::format("{} connections", alike);
}

WaitsOn waits_in(CallKind kind) {
  switch (kind) {
    case CallKind::sleeps: return WaitsOn::timer;
    case CallKind::futex: return WaitsOn::lock;
    case CallKind::child: return WaitsOn::child;
    case CallKind::signal: return WaitsOn::signal;
    case CallKind::file: return WaitsOn::file;
    case CallKind::reads:
    case CallKind::socket:
    case CallKind::accepts:
    case CallKind::polls:
    case CallKind::control:
    case CallKind::other: return WaitsOn::unknown;
  }
  return WaitsOn::unknown;
}

void look_at_polls(const SystemCall& call, const BlockedCall& blocked, DescriptorSource& source,
                   ThreadLook* look) {
  if (call.descriptor >= 0)
    return look_at_polled(source.epoll_targets(static_cast<int>(blocked.arguments[0])), source,
                          look);
  // The sets of select are not read. Without descriptors, older Pythons use it to sleep.
  const bool is_poll = call.name.ends_with("poll");
  const std::uint64_t count = blocked.arguments[is_poll ? 1 : 0];
  if (count == 0) look->on = look->has_timeout ? WaitsOn::timer : WaitsOn::signal;
  if (!is_poll) return;
  look_at_polled(source.polled(blocked.arguments[0], count), source, look);
}

// Looks at a restarted call: when a stopped process continues, for example after a debugger, the
// kernel continues a call with a time-out as restart_syscall, with the original call's arguments.
ThreadLook look_at_restarted(char state, BlockedCall call, const std::string& channel,
                             Machine machine, DescriptorSource& source) {
  const long poll = poll_number(machine);
  if (poll >= 0 && channel.find("poll") != std::string::npos) {
    call.number = poll;
    return look_at_thread(state, call, channel, machine, source);
  }
  ThreadLook look = look_by_channel(state, channel);
  look.has_timeout = true;
  return look;
}

}  // namespace

ThreadLook look_at_thread(char state, const std::optional<BlockedCall>& call,
                          const std::string& channel, Machine machine, DescriptorSource& source) {
  if (state == 'R' || (call && !call->in_call && state == 'S' && channel.empty())) {
    ThreadLook runs;
    runs.state = state;
    runs.on = WaitsOn::nothing;
    return runs;
  }
  if (!call || !call->in_call) return look_by_channel(state, channel);
  if (is_restart(machine, call->number))
    return look_at_restarted(state, *call, channel, machine, source);
  const SystemCall* const known = system_call(machine, call->number);
  if (known == nullptr) return look_by_channel(state, channel);
  ThreadLook look;
  look.state = state;
  look.call = known->name;
  look.on = waits_in(known->kind);
  look.has_timeout = ends_by_itself(*known, call->arguments);
  look.is_shared = known->kind == CallKind::futex && !is_private(*known, call->arguments);
  if (known->kind == CallKind::polls) {
    look_at_polls(*known, *call, source, &look);
  } else if (known->descriptor >= 0) {
    const std::uint64_t fd = call->arguments[static_cast<std::size_t>(known->descriptor)];
    take_target(target_of(static_cast<int>(fd), source), &look);
    if (known->kind == CallKind::accepts) look.on = WaitsOn::listener;
    const bool is_of_gpu = known->kind == CallKind::control && look.on == WaitsOn::gpu;
    if (known->kind == CallKind::file || (known->kind == CallKind::control && !is_of_gpu))
      look.on = WaitsOn::file;
  }
  return look;
}

}  // namespace lockstep::runner
