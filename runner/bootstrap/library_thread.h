#pragma once
// A thread for calls into a library that may block or hang, so that the loop's thread makes none of
// them. Calls run in order and post their results to the loop themselves.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace lockstep::runner {

class LibraryThread {
 public:
  LibraryThread();
  // Runs the remaining calls first; a call that hangs blocks it for ever.
  ~LibraryThread();
  LibraryThread(const LibraryThread&) = delete;
  LibraryThread& operator=(const LibraryThread&) = delete;

  void run(std::function<void()> call);

 private:
  void serve();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> calls_;  // guarded by mutex_
  bool leaving_ = false;                     // the same
  std::thread thread_;
};

}  // namespace lockstep::runner
