#include "common/io/descriptor_set.h"

#include <sys/epoll.h>

#include <array>
#include <cerrno>
#include <utility>

#include "common/base/check.h"

namespace lockstep::io {
namespace {

constexpr int kEventsAtOnce = 256;
constexpr std::uint32_t kReadable = EPOLLIN, kWritable = EPOLLOUT, kBroken = EPOLLERR | EPOLLHUP;

epoll_event epoll_event_of(int fd, std::uint32_t id, DescriptorSet::Interest interest) {
  epoll_event event{};
  event.events = (interest.read ? kReadable : 0u) | (interest.write ? kWritable : 0u);
  event.data.u64 = std::uint64_t{id} << 32 | static_cast<std::uint32_t>(fd);
  return event;
}

}  // namespace

DescriptorSet::DescriptorSet(EventLoop& loop)
    : loop_(loop), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  CHECK(epoll_, "epoll_create1 failed: the process is out of file descriptors");
  loop_.watch(epoll_.get(), EventLoop::Interest::read, [this] { dispatch(); });
}

DescriptorSet::~DescriptorSet() { loop_.unwatch(epoll_.get(), EventLoop::Interest::read); }

Status DescriptorSet::add(int fd, Interest interest, Handler handler) {
  CHECK(!entries_.contains(fd), "the descriptor is in the set already");
  epoll_event event = epoll_event_of(fd, ++last_id_, interest);
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    return errno_error(errno, "watch a descriptor");
  entries_[fd] = {last_id_, interest, std::make_shared<Handler>(std::move(handler))};
  return {};
}

void DescriptorSet::change(int fd, Interest interest) {
  const auto found = entries_.find(fd);
  CHECK(found != entries_.end(), "the descriptor is not in the set");
  if (found->second.interest == interest) return;
  epoll_event event = epoll_event_of(fd, found->second.id, interest);
  CHECK(::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event) == 0,
        "a descriptor was closed before it was removed from its set");
  found->second.interest = interest;
}

void DescriptorSet::remove(int fd) {
  if (entries_.erase(fd) == 0) return;
  epoll_event unused{};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, &unused);
}

void DescriptorSet::dispatch() {
  std::array<epoll_event, kEventsAtOnce> events;
  const int count = ::epoll_wait(epoll_.get(), events.data(), kEventsAtOnce, 0);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    const auto found = entries_.find(static_cast<int>(event.data.u64 & 0xffff'ffff));
    if (found == entries_.end() || found->second.id != event.data.u64 >> 32) continue;
    // Held here, because the handler may remove itself.
    const std::shared_ptr<Handler> handler = found->second.handler;
    (*handler)({(event.events & kReadable) != 0, (event.events & kWritable) != 0,
                (event.events & kBroken) != 0});
  }
}

}  // namespace lockstep::io
