#pragma once
// Hands file contents from the reading threads to the sending thread, within a memory budget that
// counts a file from its reading until its bytes are in a message.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "common/snapshot/content_taker.h"

namespace lockstep::transfer {

struct TakenContent {
  Digest digest;
  snapshot::Content content;
};

class ContentQueue final : public snapshot::ContentTaker {
 public:
  // A file of more than a third of the budget is not held. Any thread calls `wake` when the queue
  // stops being empty.
  ContentQueue(std::uint64_t budget, std::function<void()> wake)
      : budget_(budget), wake_(std::move(wake)) {}

  bool make_room(std::uint64_t bytes) override;
  void give_back(std::uint64_t bytes) override;
  void take(const Digest& digest, snapshot::Content content) override;

  // ---- for the one that sends ----
  std::vector<TakenContent> take_all();
  bool empty() const;
  // From now on readers wait for room. Before, they do not hold contents, because nobody may be
  // taking them.
  void let_wait();
  // Nothing is taken any more; nobody waits.
  void close();
  // The readers are done. What they handed over is still to be taken, if they are `whole`.
  void end(bool whole);
  bool ended() const;
  bool ended_early() const;  // and what came of it is of no use

 private:
  const std::uint64_t budget_;
  const std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::condition_variable room_;
  std::vector<TakenContent> taken_;
  std::uint64_t held_ = 0;
  bool waiting_ = false, closed_ = false, ended_ = false, whole_ = false;
};

}  // namespace lockstep::transfer
