#pragma once
// The core with its journal. It takes inputs, lets a thread of its own write a turn's facts in one
// transaction, and returns the turn's actions once they are durable. No effect of an input leaves
// before its facts are durable, and the loop never waits for the disk (launcher/core/turns.h).

#include <memory>
#include <optional>
#include <vector>

#include "common/base/result.h"
#include "common/domain/messages/views.h"
#include "common/io/clock.h"
#include "common/io/event_loop.h"
#include "launcher/api/ports/running_core.h"
#include "launcher/core/core.h"
#include "launcher/core/turns.h"
#include "launcher/daemon/stores/fact_follower.h"
#include "launcher/daemon/work/worker.h"
#include "launcher/store/journal.h"

namespace lockstep::launcher {

class DurableCore final : public RunningCore {
 public:
  // Opens and replays the journal. A missing one is created, unless `sign` shows that there was one
  // (Journal::open). The first end_turn() returns the actions of Core::resume(). `loop`, and
  // `follower` if there is one, must outlive it.
  static Result<std::unique_ptr<DurableCore>> recover(io::EventLoop& loop,
                                                      const std::string& journal_path,
                                                      const CoreConfig& config,
                                                      const std::string& sign = "",
                                                      FactFollower* follower = nullptr);
  DurableCore(const DurableCore&) = delete;
  DurableCore& operator=(const DurableCore&) = delete;

  const Core& core() const override { return core_; }
  Instant now() { return clock_.now(); }
  io::Clock& clock() { return clock_; }
  Instant started() const { return started_; }

  // See Turns.
  void feed(const Input& input) override { turns_.feed(input); }
  void ask(std::function<void()> request) override { turns_.ask(std::move(request)); }
  void when_durable(std::function<void()> work) { turns_.when_durable(std::move(work)); }
  void tick();
  std::vector<NodeNews> take_news() { return turns_.take_news(); }
  bool takes_now() const { return turns_.takes_now(); }
  bool is_writing() const { return turns_.is_writing(); }
  bool idle() const { return turns_.idle() && !broken_; }
  // How long the loop may wait for the next message; Duration::max() = without bound.
  Duration wait();

  // Ends a turn: begins to write its facts, and returns the actions to perform now; performed() is
  // called after them. After an error nothing may be sent.
  Result<std::vector<Action>> end_turn();
  void performed() { turns_.performed(); }

  // The journal's number of rows, and how many of them the last compaction wrote.
  std::uint64_t journal_rows() const { return rows_; }
  std::uint64_t journal_kept() const { return kept_; }
  // Replaces the journal by its compaction, when nothing is being written, and calls `then` on the
  // loop. unavailable: not possible now, and nothing changed. Any other error is also returned by
  // every later end_turn().
  void adopt(const CompactedJournal& compacted, std::function<void(Status)> then);

  // The write that is taking long now, and the last one that did.
  DiskWrites writes();

 private:
  DurableCore(io::EventLoop& loop, Core core, Journal journal, Instant not_before,
              FactFollower* follower);
  Worker& writer();
  void write_ahead(std::vector<StampedFact> facts);
  std::shared_ptr<const std::vector<StampedFact>> note(std::vector<StampedFact> facts);
  void write_turn(std::vector<StampedFact> facts);
  Status append(const std::vector<StampedFact>& facts);
  // Runs `work` on the writer's thread while the core does not change, then `then` on the loop.
  void write(std::function<Status()> work, std::function<void(Status)> then);
  void written(Status done, const std::function<void(Status)>& then);
  void count_rows();

  io::EventLoop& loop_;
  Core core_;
  Journal journal_;  // the writer's, while it writes
  Status ahead_;     // the writer's: the first error of what went ahead of a turn's end
  io::SystemClock clock_;
  Instant started_;
  Turns turns_;
  std::uint64_t rows_ = 0, kept_ = 0;
  FactFollower* const follower_;  // null: there is none
  FactsOfTurn turn_;              // that are being written, for the follower
  std::optional<Error> broken_;   // the journal cannot be used any more
  Instant began_;                 // the present write
  bool told_ = false;             // a long write was reported
  DiskWrites slow_;               // the last one that did
  std::optional<Worker> writer_;  // last member, so that it is destroyed first
};

// A write that takes longer is slow: it is logged, and told to those who wait for it.
inline constexpr Duration kSlowWrite = seconds(1);

}  // namespace lockstep::launcher
