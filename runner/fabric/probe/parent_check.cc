#include "runner/fabric/probe/parent_check.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "runner/fabric/probe/interfaces.h"
#include "runner/fabric/probe/path_test.h"

namespace lockstep::runner {
namespace {

PathTrouble trouble_of_error(int error) {
  switch (path_state_of(error)) {
    case PathState::refused: return PathTrouble::refused;
    case PathState::timed_out: return PathTrouble::timed_out;
    case PathState::reached:
    case PathState::no_route:
    case PathState::large_packets_lost:
    case PathState::other_host: break;
  }
  return PathTrouble::no_route;
}

std::string interface_with(const std::string& address) {
  for (const LocalAddress& local : local_addresses())
    if (local.address == address) return local.interface;
  return "";
}

}  // namespace

ParentCheck::ParentCheck(io::EventLoop& loop, io::Clock& clock, int self, int parent,
                         const GangMember& member, Found found)
    : to_(ipv4(member.address, member.runner_port)),
      found_(std::move(found)),
      clock_(clock),
      next_(to_ ? clock_.now() + kFirstParentCheck : Instant::never()),
      sockets_(loop, [this](std::uint64_t, std::uint32_t events) { look(events); }) {
  path_.from = self;
  path_.to = parent;
  path_.to_address = member.address;
  path_.port = member.runner_port;
}

void ParentCheck::expire(Instant now) {
  if (now < next_) return;
  if (fd_)
    end(PathTrouble::timed_out);
  else
    dial_parent(now);
}

void ParentCheck::dial_parent(Instant now) {
  int error = 0;
  fd_ = dial(*to_, &error);
  next_ = now + kParentCheckEvery;
  if (!fd_) return;
  path_.from_address = address_of_socket(fd_.get());
  path_.from_interface = interface_with(path_.from_address);
  if (error == 0) return end(std::nullopt);
  if (error != EINPROGRESS) return end(trouble_of_error(error));
  next_ = now + kParentCheckWithin;
  sockets_.watch(fd_.get(), 0, EPOLLOUT);
}

void ParentCheck::look(std::uint32_t) {
  if (!fd_) return;
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  end(error == 0 ? std::nullopt : std::optional(trouble_of_error(error)));
}

void ParentCheck::end(std::optional<PathTrouble> trouble) {
  fd_.reset();
  next_ = clock_.now() + kParentCheckEvery;
  std::optional<PathFailure> failure;
  if (trouble) {
    failure = path_;
    failure->trouble = *trouble;
  }
  if (failure == told_) return;
  told_ = failure;
  found_(failure);
}

}  // namespace lockstep::runner
