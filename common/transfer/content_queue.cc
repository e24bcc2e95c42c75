#include "common/transfer/content_queue.h"

#include <utility>

namespace lockstep::transfer {

bool ContentQueue::make_room(std::uint64_t bytes) {
  if (bytes > budget_ / 3) return false;
  std::unique_lock lock(mutex_);
  const auto fits = [&] { return held_ + bytes <= budget_; };
  room_.wait(lock, [&] { return closed_ || !waiting_ || fits(); });
  if (closed_ || !fits()) return false;
  held_ += bytes;
  return true;
}

void ContentQueue::give_back(std::uint64_t bytes) {
  {
    std::lock_guard guard(mutex_);
    held_ -= bytes;
  }
  room_.notify_all();
}

void ContentQueue::take(const Digest& digest, snapshot::Content content) {
  bool was_empty = false;
  {
    std::lock_guard guard(mutex_);
    if (closed_) {
      held_ -= content.size;
      return;
    }
    was_empty = taken_.empty();
    taken_.push_back({digest, std::move(content)});
  }
  if (was_empty) wake_();
}

std::vector<TakenContent> ContentQueue::take_all() {
  std::lock_guard guard(mutex_);
  return std::exchange(taken_, {});
}

bool ContentQueue::empty() const {
  std::lock_guard guard(mutex_);
  return taken_.empty();
}

void ContentQueue::let_wait() {
  std::lock_guard guard(mutex_);
  waiting_ = true;
}

void ContentQueue::close() {
  {
    std::lock_guard guard(mutex_);
    closed_ = true;
    for (const TakenContent& one : taken_) held_ -= one.content.size;
    taken_.clear();
  }
  room_.notify_all();
}

void ContentQueue::end(bool whole) {
  {
    std::lock_guard guard(mutex_);
    ended_ = true;
    whole_ = whole;
  }
  wake_();
}

bool ContentQueue::ended() const {
  std::lock_guard guard(mutex_);
  return ended_;
}

bool ContentQueue::ended_early() const {
  std::lock_guard guard(mutex_);
  return ended_ && !whole_;
}

}  // namespace lockstep::transfer
