#include "agent/daemon/network_watch.h"

#include <algorithm>
#include <utility>

namespace lockstep::agent {
namespace {

constexpr Duration kLongestNetworkPause = minutes(10);
// The time after which the network is measured again, to see whether the change lasts.
constexpr Duration kAgainAfter = seconds(2);

// Whether two inventories have the same network. `interfaces` are not compared: they include the
// links of containers, which come and go.
bool is_same_network(const Inventory& a, const Inventory& b) {
  return a.fabric == b.fabric && a.rdma_ports == b.rdma_ports;
}

}  // namespace

NetworkWatch::NetworkWatch(io::EventLoop& loop, Workers& workers, Duration every, Look look,
                           Changed changed)
    : loop_(loop),
      workers_(workers),
      every_(every),
      look_(std::move(look)),
      changed_(std::move(changed)),
      pause_(every) {
  if (every_ > Duration::zero()) look_at_ = Instant{};
}

void NetworkWatch::tick(Instant now, const Inventory& known) {
  if (every_ == Duration::zero() || looking_ || now < look_at_) return;
  look_at_ = now + pause_;
  // The network was measured a moment ago, when the agent started.
  if (!std::exchange(began_, true)) return;
  looking_ = true;
  known_ = known;
  workers_.submit([this, alive = alive_, known, look = look_, &loop = loop_] {
    loop.post([this, alive, inventory = look(known)] {
      if (*alive) found(inventory);
    });
  });
}

void NetworkWatch::found(const Inventory& inventory) {
  looking_ = false;
  const Inventory known = *std::exchange(known_, std::nullopt);
  if (is_same_network(inventory, known)) {
    seen_.reset();
    pause_ = std::max(every_, pause_ / 2);
    return;
  }
  if (!seen_ || !is_same_network(*seen_, inventory)) {
    seen_ = inventory;
    look_at_ = look_at_ - pause_ + std::min(pause_, kAgainAfter);
    return;
  }
  seen_.reset();
  pause_ = std::min<Duration>(pause_ * 2, kLongestNetworkPause);
  changed_(inventory);
}

}  // namespace lockstep::agent
