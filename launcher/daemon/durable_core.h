#pragma once
// The core with its memory: inputs in, facts to the journal in one transaction a turn, then the
// actions out. Nothing that follows from an input leaves before its facts are durable.

#include <optional>
#include <vector>

#include "common/base/result.h"
#include "common/io/clock.h"
#include "launcher/core/core.h"
#include "launcher/store/journal.h"

namespace lockstep::launcher {

class DurableCore {
 public:
  // Opens and replays the journal, a new one unless there is a `sign` of one (Journal::open). The
  // actions of the first commit() are those of Core::resume().
  static Result<DurableCore> recover(const std::string& journal_path, const CoreConfig& config,
                                     const std::string& sign = "");

  const Core& core() const { return core_; }
  Instant now() { return clock_.now(); }
  Instant started() const { return started_; }

  void feed(const Input& input);
  // Feeds a tick when one is due.
  void tick();
  // How long the loop may wait for the next message; Duration::max() = without bound.
  Duration wait();
  bool idle() const { return facts_.empty() && actions_.empty(); }

  // How long the journal is, and how much of it the last compaction wrote.
  std::uint64_t journal_rows() const { return journal_.last_sequence(); }
  std::uint64_t journal_kept() const { return journal_.kept_by_compaction(); }
  // A compaction of this journal takes its place. unavailable: not now, and all is as before; after
  // another error the next commit() returns it.
  Status adopt(const CompactedJournal& compacted);

  // Ends a turn: all its facts durable, then its actions. After an error nothing may be sent.
  Result<std::vector<Action>> commit();

 private:
  DurableCore(Core core, Journal journal, Instant not_before)
      : core_(std::move(core)), journal_(std::move(journal)), clock_(not_before) {}

  Core core_;
  Journal journal_;
  io::SystemClock clock_;
  Instant started_;
  std::vector<StampedFact> facts_;
  std::vector<Action> actions_;
  std::optional<Error> broken_;  // the journal cannot be used any more
};

}  // namespace lockstep::launcher
