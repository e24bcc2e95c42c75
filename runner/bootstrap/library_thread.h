#pragma once
// A thread for calls into a library that may take long or hang, so that the loop's thread does not
// make them. Calls run in order; each posts its own result to the loop.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace lockstep::runner {

class LibraryThread {
 public:
  LibraryThread();
  // Runs the queued calls to their end first, so it blocks for as long as a call hangs.
  ~LibraryThread();
  LibraryThread(const LibraryThread&) = delete;
  LibraryThread& operator=(const LibraryThread&) = delete;

  void run(std::function<void()> call);

 private:
  void serve();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> calls_;  // guarded by mutex_
  bool leaving_ = false;                     // guarded by mutex_
  std::thread thread_;
};

}  // namespace lockstep::runner
