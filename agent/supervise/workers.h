#pragma once
// A few threads for work that may block: staging, starting, removing. Work starts in the order of
// submission, several items at a time; the work itself posts its result through EventLoop::post.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace lockstep::agent {

class Workers {
 public:
  using Work = std::function<void()>;

  explicit Workers(int threads) : most_(threads) {}
  ~Workers();  // waits for running work; drops queued work
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  void submit(Work work);

 private:
  void serve();

  const int most_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Work> queue_;  // guarded by mutex_, as are the members below
  int idle_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;  // the threads, started when first needed
};

}  // namespace lockstep::agent
