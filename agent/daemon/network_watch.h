#pragma once
// Looks now and then whether the node's interfaces or RDMA ports have changed, on a worker. What is
// found twice in a row counts, so that a link that comes up is told once, with its addresses. After
// each change it looks less often for a while: a link that flaps must not fill the journal.

#include <functional>
#include <memory>
#include <optional>

#include "agent/supervise/workers.h"
#include "common/base/time.h"
#include "common/domain/targets/node.h"
#include "common/io/event_loop.h"

namespace lockstep::agent {

class NetworkWatch {
 public:
  // Runs on a worker: the inventory with its network as it is now.
  using Look = std::function<Inventory(Inventory)>;
  using Changed = std::function<void(const Inventory&)>;

  // `every`: zero: it never looks.
  NetworkWatch(io::EventLoop& loop, Workers& workers, Duration every, Look look, Changed changed);
  ~NetworkWatch() { *alive_ = false; }
  NetworkWatch(const NetworkWatch&) = delete;
  NetworkWatch& operator=(const NetworkWatch&) = delete;

  // `known`: as the launcher was told last.
  void tick(Instant now, const Inventory& known);
  // Never while it looks: a worker may be busy for minutes, and its answer wakes the loop.
  Instant next_deadline() const { return looking_ ? Instant::never() : look_at_; }

 private:
  void found(const Inventory& inventory);

  io::EventLoop& loop_;
  Workers& workers_;
  const Duration every_;
  const Look look_;
  const Changed changed_;
  Duration pause_;
  Instant look_at_ = Instant::never();
  bool began_ = false, looking_ = false;
  std::optional<Inventory> known_;                              // while it looks
  std::optional<Inventory> seen_;                               // that differed, at the last look
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // false: drop late results
};

}  // namespace lockstep::agent
