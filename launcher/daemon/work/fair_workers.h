#pragma once
// Threads for work that blocks or takes long, with turns between principals (turn_queue.h). Long
// work must call `pause` repeatedly: after a slice of time it lets others run, and continues at its
// next turn. So the long work of one principal delays others only by a slice. Work posts its result
// to the event loop itself. The works of one principal run one after the other, in order.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "common/base/time.h"
#include "launcher/daemon/work/turn_queue.h"

namespace lockstep::launcher {

class FairWorkers {
 public:
  struct Limits {
    std::size_t at_once = 1;         // works that run at one time
    std::size_t at_once_of_one = 1;  // works of one principal that have begun
    std::size_t begun = 1;           // works that run or have paused: each has a thread
    ShareBounds waiting = {};
    Duration slice = std::chrono::milliseconds(10);
  };
  // Returns soon while no other work waits. unavailable: the launcher is ending, and the work must
  // end too.
  using Pause = std::function<Status()>;
  using Work = std::function<void(const Pause& pause)>;

  explicit FairWorkers(Limits limits);
  // Waits for works that have begun; drops the others.
  ~FairWorkers();
  FairWorkers(const FairWorkers&) = delete;
  FairWorkers& operator=(const FairWorkers&) = delete;

  // Runs work. Returns resource_exhausted if too many wait; then the work is not taken.
  Status run(const std::string& who, Work work);
  // Runs work that may not be refused, because something else bounds its amount.
  void run_anyway(const std::string& who, Work work);

 private:
  struct Paused {
    std::condition_variable may_go_on;
    bool goes_on = false;
  };
  struct Entry {
    Work work;                 // the work to begin; or
    Paused* paused = nullptr;  // the paused work to continue
  };
  void admit();
  void serve();
  Status make_way(const std::string& who);

  const Limits limits_;
  std::mutex mutex_;  // guards all that follows
  TurnQueue<Entry> queue_;
  std::deque<TurnQueue<Entry>::Taken> to_begin_;  // admitted, for the next idle thread
  std::condition_variable changed_;
  std::size_t running_ = 0, begun_ = 0, idle_ = 0;
  std::map<std::string, std::size_t> begun_of_;
  bool leaving_ = false;
  std::list<std::thread> threads_;
};

}  // namespace lockstep::launcher
