#pragma once
// Checks at intervals, on a worker, whether the node's interfaces or RDMA ports have changed. A
// change counts when it is found twice in a row, so that a link that comes up is reported once,
// with its addresses. After each change the interval is longer for a while: a link that goes up and
// down repeatedly must not fill the journal.

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
  // Runs on a worker: returns the inventory with its present network.
  using Look = std::function<Inventory(Inventory)>;
  using Changed = std::function<void(const Inventory&)>;

  // `every`: the time between looks; zero: it never looks.
  NetworkWatch(io::EventLoop& loop, Workers& workers, Duration every, Look look, Changed changed);
  ~NetworkWatch() { *alive_ = false; }
  NetworkWatch(const NetworkWatch&) = delete;
  NetworkWatch& operator=(const NetworkWatch&) = delete;

  // `known`: the inventory that the launcher has.
  void tick(Instant now, const Inventory& known);
  // When to look next; never while it looks: a worker may be busy for minutes, and its answer wakes
  // the loop.
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
  std::optional<Inventory> known_;  // set while it looks
  std::optional<Inventory> seen_;   // the changed inventory that the last look found
  // set to false so that late results are dropped
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace lockstep::agent
