#pragma once
// A queue of file contents from the threads that read files to the thread that sends them. All
// contents share a memory budget, from the reading of a file until its bytes are in a message.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "common/snapshot/capture/content_taker.h"

namespace lockstep::transfer {

struct TakenContent {
  Digest digest;
  snapshot::Content content;
};

class ContentQueue final : public snapshot::ContentTaker {
 public:
  // A file larger than a third of the budget is not held. `wake` is called, on any thread, when the
  // queue is no longer empty and when it ends.
  ContentQueue(std::uint64_t budget, std::function<void()> wake)
      : budget_(budget), wake_(std::move(wake)) {}

  bool make_room(std::uint64_t bytes) override;
  void give_back(std::uint64_t bytes) override;
  void take(const Digest& digest, snapshot::Content content) override;

  // ---- for the sending thread ----
  std::vector<TakenContent> take_all();
  bool empty() const;
  // Lets make_room() wait for room from now on. Before, it returns false when there is none,
  // because the other side may not be answering.
  void let_wait();
  // Discards all contents. From now on the queue accepts none, and no reader waits.
  void close();
  // Tells that the readers are done. `whole`: they succeeded, and the contents in the queue are
  // still to be sent.
  void end(bool whole);
  bool ended() const;
  bool ended_early() const;  // the readers failed, and the contents are useless

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
