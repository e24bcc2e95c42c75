#pragma once
// The core with its journal. It takes inputs, writes a turn's facts to the journal in one
// transaction, and then returns the actions. No effect of an input leaves before its facts are
// durable.

#include <optional>
#include <vector>

#include "common/base/result.h"
#include "common/io/clock.h"
#include "launcher/core/core.h"
#include "launcher/store/journal.h"

namespace lockstep::launcher {

class DurableCore {
 public:
  // Opens and replays the journal. A missing one is created, unless `sign` shows that there was one
  // (Journal::open). The first commit() returns the actions of Core::resume().
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

  // The journal's number of rows, and how many of them the last compaction wrote.
  std::uint64_t journal_rows() const { return journal_.last_sequence(); }
  std::uint64_t journal_kept() const { return journal_.kept_by_compaction(); }
  // Replaces the journal by its compaction. unavailable: not possible now, and nothing changed. Any
  // other error is also returned by every later commit().
  Status adopt(const CompactedJournal& compacted);

  // Ends a turn: makes its facts durable and returns its actions. After an error nothing may be
  // sent.
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
