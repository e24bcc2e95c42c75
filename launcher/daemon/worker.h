#pragma once
// One thread for work that blocks (hashing, fsync), done in order; results are posted back to the
// loop by the work itself. Its destructor finishes what was given to it.

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
  std::deque<Work> queue_;  // guarded by mutex_; bounded by those who fill it
  bool leaving_ = false;    // guarded by mutex_
  std::thread thread_;
};

}  // namespace lockstep::launcher
