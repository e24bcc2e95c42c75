#include "launcher/daemon/work/fair_workers.h"

#include <chrono>
#include <csignal>

namespace lockstep::launcher {

FairWorkers::FairWorkers(Limits limits) : limits_(std::move(limits)), queue_(limits_.waiting) {}

FairWorkers::~FairWorkers() {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
    queue_.each([](Entry& entry) {
      if (entry.paused != nullptr) entry.paused->may_go_on.notify_one();
    });
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

Status FairWorkers::run(const std::string& who, Work work) {
  const std::lock_guard lock(mutex_);
  TRY(queue_.push(who, {std::move(work)}));
  admit();
  return {};
}

void FairWorkers::run_anyway(const std::string& who, Work work) {
  const std::lock_guard lock(mutex_);
  queue_.push_anyway(who, {std::move(work)});
  admit();
}

// Starts work that may run, in turn. A thread is started only if all others are busy or paused.
void FairWorkers::admit() {
  const auto may = [this](const std::string& who, const Entry& entry) {
    if (entry.paused != nullptr) return true;
    const auto of_one = begun_of_.find(who);
    return begun_ < limits_.begun &&
           (of_one == begun_of_.end() || of_one->second < limits_.at_once_of_one);
  };
  while (!leaving_ && running_ < limits_.at_once) {
    auto next = queue_.pop(may);
    if (!next) return;
    ++running_;
    if (Paused* paused = next->item.paused) {
      paused->goes_on = true;
      paused->may_go_on.notify_one();
      continue;
    }
    ++begun_;
    ++begun_of_[next->who];
    to_begin_.push_back(*std::move(next));
    if (idle_ >= to_begin_.size())
      changed_.notify_one();
    else
      threads_.emplace_back([this] { serve(); });
  }
}

void FairWorkers::serve() {
  // Only the loop's thread handles signals, so they are blocked here.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait(lock, [this] { return leaving_ || !to_begin_.empty(); });
    --idle_;
    if (leaving_) return;
    auto taken = std::move(to_begin_.front());
    to_begin_.pop_front();
    lock.unlock();
    auto began = std::chrono::steady_clock::now();
    const Pause pause = [this, &taken, &began]() -> Status {
      if (std::chrono::steady_clock::now() - began < limits_.slice) return {};
      const Status goes_on = make_way(taken.who);
      began = std::chrono::steady_clock::now();
      return goes_on;
    };
    taken.item.work(pause);
    taken.item.work = nullptr;
    lock.lock();
    --running_;
    --begun_;
    if (const auto of_one = begun_of_.find(taken.who); --of_one->second == 0)
      begun_of_.erase(of_one);
    admit();
  }
}

// Makes way; a work calls this when it has used up its slice.
Status FairWorkers::make_way(const std::string& who) {
  std::unique_lock lock(mutex_);
  if (!leaving_ && queue_.others_wait(who)) {
    Paused paused;
    queue_.put_back(who, {nullptr, &paused});
    --running_;
    admit();
    paused.may_go_on.wait(lock, [&] { return paused.goes_on || leaving_; });
  }
  if (leaving_) return make_error(ErrorCode::unavailable, "the launcher is ending");
  return {};
}

}  // namespace lockstep::launcher
