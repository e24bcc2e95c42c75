#include "common/io/net/backlog.h"

#include <algorithm>

namespace lockstep::io {
namespace {

// Takes at most `bytes` from the count; returns how many were taken.
std::int64_t take(std::int64_t& from, std::int64_t bytes) {
  const std::int64_t taken = std::min(from, bytes);
  from -= taken;
  return taken;
}

}  // namespace

Backlog::Entry* Backlog::bounded(int fd) {
  const auto found = entries_.find(fd);
  return found == entries_.end() || found->second.is_trusted ? nullptr : &found->second;
}

// Bytes that were read from it may still be in a queue.
void Backlog::forget(int fd) {
  if (const Entry* entry = bounded(fd)) {
    unread_ -= entry->unread;
    left_unread_ += entry->unread;
    unsent_ -= entry->unsent;
    --connections_;
  }
  entries_.erase(fd);
}

void Backlog::opened(int fd) {
  const std::lock_guard lock(mutex_);
  is_used_ = true;
  forget(fd);
  entries_[fd].life = ++lives_;
  ++connections_;
}

void Backlog::closed(int fd) {
  if (!is_used_) return;
  const std::lock_guard lock(mutex_);
  forget(fd);
}

void Backlog::trust(int fd) {
  const std::lock_guard lock(mutex_);
  Entry* const entry = bounded(fd);
  if (entry == nullptr) return;
  unread_ -= entry->unread;
  unsent_ -= entry->unsent;
  --connections_;
  entry->is_trusted = true;
}

std::uint64_t Backlog::life(int fd) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(fd);
  return found == entries_.end() ? 0 : found->second.life;
}

std::int64_t Backlog::share() const {
  return std::max(limits_.share, limits_.all / std::max<std::int64_t>(connections_, 1));
}

bool Backlog::read(int fd, std::int64_t bytes) {
  if (!is_used_) return true;
  const std::lock_guard lock(mutex_);
  Entry* const entry = bounded(fd);
  if (entry == nullptr) return true;
  entry->unread += bytes;
  unread_ += bytes;
  const bool is_much = unread_ + left_unread_ > limits_.all;
  return entry->unread <= limits_.unread && (!is_much || entry->unread <= share());
}

void Backlog::took(int fd, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(fd);
  if (found != entries_.end() && found->second.is_trusted) return;
  const std::int64_t taken = found == entries_.end() ? 0 : take(found->second.unread, bytes);
  unread_ -= taken;
  take(left_unread_, bytes - taken);
}

void Backlog::all_taken() {
  if (!is_used_) return;
  const std::lock_guard lock(mutex_);
  left_unread_ = 0;
}

bool Backlog::may_give(int fd, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  const Entry* const entry = bounded(fd);
  if (entry == nullptr) return true;
  const bool is_much = unsent_ + bytes > limits_.all;
  const std::int64_t mine = entry->unsent + bytes;
  if (entry->unsent == 0 && !is_much) return true;
  return mine <= limits_.unsent && (!is_much || mine <= share());
}

void Backlog::gave(int fd, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  Entry* const entry = bounded(fd);
  if (entry == nullptr) return;
  entry->unsent += bytes;
  unsent_ += bytes;
}

void Backlog::wrote(int fd, std::int64_t bytes) {
  if (!is_used_) return;
  const std::lock_guard lock(mutex_);
  if (Entry* const entry = bounded(fd)) unsent_ -= take(entry->unsent, bytes);
}

std::int64_t Backlog::unread() const {
  const std::lock_guard lock(mutex_);
  return unread_ + left_unread_;
}

std::int64_t Backlog::unsent() const {
  const std::lock_guard lock(mutex_);
  return unsent_;
}

}  // namespace lockstep::io
