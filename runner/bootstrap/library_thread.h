#pragma once
// The one thread that calls a library whose calls may take long, or hang: the loop's thread makes
// none of them. Calls are made in order; what comes of them they post to the loop themselves.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace lockstep::runner {

class LibraryThread {
 public:
  LibraryThread();
  // Makes the calls that wait still, and waits for a call that hangs as long as it hangs.
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
