#pragma once
// A few threads for what may block: staging, starting, removing. Work runs in the order it was
// handed in, several at a time; its result goes back through EventLoop::post. It knows nothing of
// the work.

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
  ~Workers();  // waits for what runs; drops what waits
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  void submit(Work work);

 private:
  void serve();

  const int most_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Work> queue_;  // guarded by mutex_, as is all below
  int idle_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;  // started when first needed
};

}  // namespace lockstep::agent
