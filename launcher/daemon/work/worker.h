#pragma once
// One thread for work that blocks (hashing, fsync). Work is done in order and posts its result to
// the event loop itself. The destructor returns after all queued work is done.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace lockstep::launcher {

class Worker {
 public:
  using Work = std::function<void()>;
  Worker();
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  void run(Work work);

 private:
  void serve();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Work> queue_;  // guarded by mutex_; the callers bound its length
  bool leaving_ = false;    // guarded by mutex_
  std::thread thread_;
};

}  // namespace lockstep::launcher
