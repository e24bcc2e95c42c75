#pragma once
// Keeps the archive of ended jobs (launcher/archive) behind the journal while the launcher runs. It
// writes on its own worker, and makes the archive anew of the journal where there is none, where it
// is damaged, and where it cannot go on. No decision rests on the archive: what goes wrong here is
// logged and tried again, and jobs run on.

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/io/event_loop.h"
#include "launcher/archive/follower.h"
#include "launcher/archive/rebuild.h"
#include "launcher/archive/writer.h"
#include "launcher/daemon/stores/fact_follower.h"
#include "launcher/daemon/work/worker.h"

namespace lockstep::launcher {

class Archiver final : public FactFollower {
 public:
  // Paths of both files. Nobody else writes to the archive. `loop` must outlive it.
  Archiver(io::EventLoop& loop, std::string journal, std::string archive);

  void replayed(const StampedFact& fact, const JournalPosition& at, const State& state) override;
  void end_replay(const JournalPosition& end) override;
  void durable(const FactsOfTurn& facts, const JournalPosition& end, const State& state) override;
  void compacted(const JournalPosition& end) override;

  // Writes and syncs what was seen until now, and calls `then` on the loop: without an error the
  // journal may be compacted, and is not read here until release().
  void catch_up(std::function<void(Status)> then);
  void release() { is_held_ = false; }

  // Called at the end of each turn; begins what is due.
  void turn_end();
  Duration wait() const;  // time until something is due; max() while it is at work
  // What is seen is written, and nothing goes on.
  bool is_idle() const {
    return !is_at_work_ && !batch_ && !why_rebuild_ && follower_.waiting() == 0;
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Then = std::function<void(Status)>;
  struct Seen {
    StampedFact fact;
    archive::SubmittedAs as;
    JournalPosition at;
  };

  Status open();
  static archive::SubmittedAs submitted(const StampedFact& fact, const State& state);
  void keep_for_later(const FactsOfTurn& facts, const JournalPosition& end, const State& state);
  void write();
  void wrote(const Status& done);
  void rebuild();
  void rebuilt(Result<archive::Rebuilt> result);
  void retry_later() { retry_at_ = Clock::now() + kRetry; }

  static constexpr std::chrono::seconds kRetry{10};

  io::EventLoop& loop_;
  const std::string journal_, path_;
  std::optional<archive::Writer> writer_;  // the worker's, while it is at work
  archive::Follower follower_;
  std::optional<archive::Follower::Batch> batch_;  // until it is written
  std::optional<std::string> why_rebuild_;         // it is due, or goes on
  bool is_off_ = false;                            // a newer version made the archive
  bool is_at_work_ = false, is_held_ = false;
  std::vector<Seen> backlog_;  // facts that became durable during a rebuild
  bool is_backlog_lost_ = false;
  std::vector<Then> catching_up_, syncing_;  // for the next write; of the present one
  std::optional<Clock::time_point> retry_at_;
  std::optional<Worker> worker_;  // last member, so that it is destroyed first
};

// Facts that are kept during a rebuild; after more, another one follows.
inline constexpr std::size_t kMaxArchiverBacklog = 200'000;

}  // namespace lockstep::launcher
