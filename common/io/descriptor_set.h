#pragma once
// Many descriptors behind one watch of an EventLoop, for programs with thousands of connections:
// the loop hands all that it watches to the kernel at each turn, while a turn here costs only what
// is ready (epoll). Level-triggered. It owns no descriptor and makes no decisions.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "common/base/result.h"
#include "common/io/event_loop.h"
#include "common/io/file_system.h"

namespace lockstep::io {

class DescriptorSet {
 public:
  struct Interest {
    bool read = false, write = false;
    friend bool operator==(const Interest&, const Interest&) = default;
  };
  struct Ready {
    bool read = false, write = false;
    bool broken = false;  // an error, or both directions have ended; told without an interest too
  };
  using Handler = std::function<void(Ready)>;

  explicit DescriptorSet(EventLoop& loop);
  ~DescriptorSet();
  DescriptorSet(const DescriptorSet&) = delete;
  DescriptorSet& operator=(const DescriptorSet&) = delete;

  // `fd` is not in the set yet. Handlers may add, change and remove anything, themselves included.
  Status add(int fd, Interest interest, Handler handler);
  void change(int fd, Interest interest);
  // Before `fd` is closed. Nothing happens if it is not in the set.
  void remove(int fd);
  std::size_t size() const { return entries_.size(); }

 private:
  // The id tells an entry from a later one with the same descriptor.
  struct Entry {
    std::uint32_t id = 0;
    Interest interest;
    std::shared_ptr<Handler> handler;
  };
  void dispatch();

  EventLoop& loop_;
  Fd epoll_;
  std::map<int, Entry> entries_;
  std::uint32_t last_id_ = 0;
};

}  // namespace lockstep::io
