#include "common/io/event_loop.h"

#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <zmq.h>

#include <cerrno>
#include <map>
#include <mutex>
#include <utility>

#include "common/base/check.h"
#include "common/io/file_system.h"

namespace lockstep::io {

struct EventLoop::Impl {
  // A handler waits for a descriptor with an interest, or for a ZeroMQ socket.
  struct Key {
    void* socket = nullptr;
    int fd = -1;
    short events = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  // The id tells a watch from a later one with the same key. A descriptor number that is closed and
  // opened again within one turn must not get the old one's event.
  struct Watch {
    std::uint64_t id = 0;
    std::shared_ptr<Handler> handler;
  };

  void add(const Key& key, Handler handler) {
    watches[key] = Watch{++last_id, std::make_shared<Handler>(std::move(handler))};
    items_stale = true;
  }
  void remove(const Key& key) {
    if (watches.erase(key) > 0) items_stale = true;
  }
  void rebuild_items() {
    items.clear();
    keys.clear();
    for (const auto& [key, watch] : watches) {
      items.push_back({key.socket, key.socket ? 0 : key.fd, key.events, 0});
      keys.push_back(key);
    }
    items_stale = false;
  }
  void dispatch();
  void run_posted();

  std::map<Key, Watch> watches;
  std::uint64_t last_id = 0;
  bool items_stale = true;
  std::vector<zmq_pollitem_t> items;
  std::vector<Key> keys;  // keys[i] belongs to items[i]

  Fd wake;
  std::mutex mutex;
  std::vector<Handler> posted;  // guarded by mutex
  std::vector<Fd> signal_fds;
};

namespace {

short poll_events(EventLoop::Interest interest) {
  return interest == EventLoop::Interest::read ? ZMQ_POLLIN : ZMQ_POLLOUT;
}

// Milliseconds for zmq_poll, rounded up: an earlier wake-up would find nothing to do.
long poll_timeout_ms(Duration timeout) {
  if (timeout == Duration::max()) return -1;
  if (timeout <= Duration::zero()) return 0;
  constexpr std::int64_t kLongest = 24LL * 3600 * 1000;
  const std::int64_t ms = timeout.count() / 1'000'000 + (timeout.count() % 1'000'000 != 0 ? 1 : 0);
  return static_cast<long>(ms < kLongest ? ms : kLongest);
}

}  // namespace

EventLoop::EventLoop() : impl_(std::make_unique<Impl>()) {
  impl_->wake.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  CHECK(impl_->wake, "eventfd failed: the process is out of file descriptors");
  watch(impl_->wake.get(), Interest::read, [impl = impl_.get()] { impl->run_posted(); });
}

EventLoop::~EventLoop() = default;

void EventLoop::watch(int fd, Interest interest, Handler handler) {
  impl_->add({nullptr, fd, poll_events(interest)}, std::move(handler));
}

void EventLoop::unwatch(int fd, Interest interest) {
  impl_->remove({nullptr, fd, poll_events(interest)});
}

void EventLoop::watch_socket(void* zmq_socket, Handler handler) {
  impl_->add({zmq_socket, -1, ZMQ_POLLIN}, std::move(handler));
}

void EventLoop::unwatch_socket(void* zmq_socket) { impl_->remove({zmq_socket, -1, ZMQ_POLLIN}); }

Status EventLoop::watch_signals(const std::vector<int>& signals, std::function<void(int)> handler) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  if (const int error = pthread_sigmask(SIG_BLOCK, &set, nullptr); error != 0) {
    return errno_error(error, "block signals");
  }
  Fd fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return errno_error(errno, "signalfd");
  watch(fd.get(), Interest::read, [raw = fd.get(), handler = std::move(handler)] {
    signalfd_siginfo info;
    while (::read(raw, &info, sizeof info) == sizeof info) {
      handler(static_cast<int>(info.ssi_signo));
    }
  });
  impl_->signal_fds.push_back(std::move(fd));
  return {};
}

void EventLoop::post(Handler work) {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->posted.push_back(std::move(work));
  }
  const std::uint64_t one = 1;
  // A full counter (EAGAIN) means that a wake-up is pending anyway.
  [[maybe_unused]] const auto written = ::write(impl_->wake.get(), &one, sizeof one);
}

void EventLoop::Impl::run_posted() {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto bytes = ::read(wake.get(), &count, sizeof count);
  std::vector<Handler> batch;
  {
    const std::lock_guard lock(mutex);
    batch.swap(posted);
  }
  for (Handler& work : batch) work();
}

void EventLoop::Impl::dispatch() {
  std::vector<std::pair<Key, std::uint64_t>> ready;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].revents != 0) ready.emplace_back(keys[i], watches.at(keys[i]).id);
  }
  for (const auto& [key, id] : ready) {
    const auto found = watches.find(key);
    if (found == watches.end() || found->second.id != id) continue;
    // Kept alive here, because the handler may unwatch itself.
    const std::shared_ptr<Handler> handler = found->second.handler;
    (*handler)();
  }
}

void EventLoop::turn(Duration timeout) {
  if (impl_->items_stale) impl_->rebuild_items();
  const int ready = zmq_poll(impl_->items.data(), static_cast<int>(impl_->items.size()),
                             poll_timeout_ms(timeout));
  if (ready < 0) {
    CHECK(zmq_errno() == EINTR, "zmq_poll was given a closed socket or descriptor");
    return;
  }
  if (ready > 0) impl_->dispatch();
}

}  // namespace lockstep::io
