#include "runner/watch/watch_thread.h"

#include <fmt/format.h>

#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace lockstep::runner {

struct WatchThread::Shared {
  explicit Shared(std::string root) : watch(std::move(root)) {}

  RankWatch watch;  // only the thread uses it
  std::mutex mutex;
  std::condition_variable changed;
  // Guarded by the mutex, like the members below. Null when nobody waits for results any more.
  io::EventLoop* loop = nullptr;
  std::function<void(WatchResult)> done;
  struct Wish {
    Instant now;
    WatchLook look;
  };
  std::optional<Wish> wish;
  bool is_busy = false;
  std::vector<std::function<void(RankWatch&)>> notes;  // run before the next sample
};

WatchThread::WatchThread(io::EventLoop& loop, std::function<void(WatchResult)> done,
                         std::string root)
    : shared_(std::make_shared<Shared>(std::move(root))) {
  shared_->loop = &loop;
  shared_->done = std::move(done);
}

WatchThread::~WatchThread() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->loop = nullptr;
    shared_->done = nullptr;
  }
  shared_->changed.notify_one();
}

Status WatchThread::start() {
  if (is_started_) return {};
  if (why_not_.empty()) {
    try {
      std::thread([shared = shared_] { work(shared); }).detach();
      is_started_ = true;
      return {};
    } catch (const std::system_error& error) {
      why_not_ = fmt::format("no thread can be started to look at them: {}", error.what());
    }
  }
  return make_error(ErrorCode::resource_exhausted, why_not_);
}

Status WatchThread::sample(Instant now, WatchLook look) {
  TRY(start());
  {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->is_busy || shared_->wish)
      return make_error(ErrorCode::conflict, "the look before is not done");
    shared_->wish = Shared::Wish{now, std::move(look)};
  }
  shared_->changed.notify_one();
  return {};
}

void WatchThread::take_stack(int rank, std::optional<StackTop> top, Instant at) {
  const std::lock_guard lock(shared_->mutex);
  shared_->notes.emplace_back(
      [rank, top = std::move(top), at](RankWatch& watch) { watch.take_stack(rank, top, at); });
}

void WatchThread::take_counts(int rank, std::vector<CollectiveCount> counts, Instant at) {
  const std::lock_guard lock(shared_->mutex);
  shared_->notes.emplace_back([rank, counts = std::move(counts), at](RankWatch& watch) {
    watch.take_counts(rank, counts, at);
  });
}

void WatchThread::work(const std::shared_ptr<Shared>& shared) {
  std::unique_lock lock(shared->mutex);
  while (true) {
    shared->changed.wait(lock, [&] { return shared->loop == nullptr || shared->wish.has_value(); });
    if (shared->loop == nullptr) return;
    const Shared::Wish wish = *std::exchange(shared->wish, std::nullopt);
    const auto notes = std::exchange(shared->notes, {});
    shared->is_busy = true;
    lock.unlock();
    WatchResult result;
    try {
      for (const auto& note : notes) note(shared->watch);
      result = shared->watch.sample(wish.now, wish.look);
    } catch (const std::exception& error) {  // out of memory: the next look may have enough
      result.taken = wish.now;
      result.unseen = error.what();
    }
    lock.lock();
    shared->is_busy = false;
    if (shared->loop == nullptr) return;
    // Runs on the loop's thread, where this object is destroyed, too.
    try {
      shared->loop->post([shared, result = std::move(result)]() mutable {
        const auto done = shared->done;  // the call may destroy this object
        if (done) done(std::move(result));
      });
    } catch (const std::exception&) {  // out of memory: this look is lost, but the runner goes on
    }
  }
}

}  // namespace lockstep::runner
