#pragma once
// Users' requests that wait until the journal is written, with a limit on their number and size.

#include <cstddef>
#include <functional>
#include <list>
#include <utility>

#include "common/domain/client_messages.h"
#include "launcher/api/asker.h"

namespace lockstep::launcher {

struct WaitingRequest {
  Asker asker;
  ClientRequest request;
  std::size_t bytes = 0;
};

class WaitingRequests {
 public:
  using Place = std::list<WaitingRequest>::iterator;

  bool has_room(std::size_t bytes) const {
    return requests_.size() < kMost && bytes_ + bytes <= kMostBytes;
  }
  Place add(Asker asker, ClientRequest request, std::size_t bytes) {
    bytes_ += bytes;
    return requests_.insert(requests_.end(), {std::move(asker), std::move(request), bytes});
  }
  WaitingRequest take(Place place) {
    WaitingRequest taken = std::move(*place);
    bytes_ -= taken.bytes;
    requests_.erase(place);
    return taken;
  }
  void each(const std::function<void(WaitingRequest&)>& visit) {
    for (WaitingRequest& request : requests_) visit(request);
  }
  std::size_t count() const { return requests_.size(); }

 private:
  static constexpr std::size_t kMost = 10'000;
  static constexpr std::size_t kMostBytes = 64u << 20;

  std::list<WaitingRequest> requests_;
  std::size_t bytes_ = 0;
};

}  // namespace lockstep::launcher
