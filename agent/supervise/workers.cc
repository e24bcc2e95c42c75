#include "agent/supervise/workers.h"

#include <pthread.h>
#include <signal.h>

namespace lockstep::agent {

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    queue_.clear();
  }
  ready_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::submit(Work work) {
  const std::lock_guard lock(mutex_);
  queue_.push_back(std::move(work));
  if (queue_.size() > static_cast<std::size_t>(idle_) &&
      threads_.size() < static_cast<std::size_t>(most_)) {
    threads_.emplace_back([this] { serve(); });
  }
  ready_.notify_one();
}

void Workers::serve() {
  // Signals are blocked here: the loop's thread alone handles them.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (queue_.empty()) {
      ++idle_;
      ready_.wait(lock);
      --idle_;
      continue;
    }
    const Work work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
}

}  // namespace lockstep::agent
