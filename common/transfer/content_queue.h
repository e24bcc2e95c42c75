#pragma once
// Contents on their way from the threads that read them to the one that sends them, and the memory
// that they hold: a budget for all, from the reading of a file until its bytes are in a message.

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
  // No file is held that takes more than a third of the budget. `wake` is called, by any thread,
  // when there is something after there was nothing.
  ContentQueue(std::uint64_t budget, std::function<void()> wake)
      : budget_(budget), wake_(std::move(wake)) {}

  bool make_room(std::uint64_t bytes) override;
  void give_back(std::uint64_t bytes) override;
  void take(const Digest& digest, snapshot::Content content) override;

  // ---- for the one that sends ----
  std::vector<TakenContent> take_all();
  bool empty() const;
  // From now on a reader waits for room. Before, it goes on without: nobody may be listening.
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
