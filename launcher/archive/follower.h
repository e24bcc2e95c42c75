#pragma once
// Keeps the archive behind the journal while the launcher runs: it sees every fact once, first in
// the replay at the start and then as they become durable, and hands the changes of those that the
// archive lacks to the writer. Pure; whoever holds it calls the writer.

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/archive/change.h"
#include "launcher/archive/fold.h"
#include "launcher/store/journal_position.h"

namespace lockstep::archive {

class Follower {
 public:
  // Before the replay. `known`: Writer::mark().
  Follower(const std::optional<launcher::JournalPosition>& known, Fold fold)
      : fold_(std::move(fold)), known_(known) {}
  // After a rebuild: the fold has seen all up to `known`, and there is no replay.
  static Follower after_rebuild(const launcher::JournalPosition& known, Fold fold) {
    Follower follower(known, std::move(fold));
    follower.is_replayed_ = true;
    return follower;
  }

  // In the order of the journal. `position`: of this fact. `as`: see Fold.
  void see(const launcher::StampedFact& fact, const SubmittedAs& as,
           const launcher::JournalPosition& position);

  // Ends the replay, with the journal's position. Why the archive cannot go on from where it is,
  // and has to be made anew of the journal (rebuild.h); nullopt: it can.
  std::optional<std::string> end_replay(const launcher::JournalPosition& end);

  // The journal was compacted: the position of its last fact, which was seen, is another one now.
  void compacted(const launcher::JournalPosition& end);

  // What is to be written: changes, and the position up to which they reach. nullopt: nothing new
  // was seen since the last call.
  struct Batch {
    std::vector<Change> changes;
    launcher::JournalPosition mark;
  };
  std::optional<Batch> take();
  std::size_t waiting() const { return changes_.size(); }

 private:
  void compare(const launcher::JournalPosition& position);
  void give_up(std::string why);

  Fold fold_;
  bool is_replayed_ = false;
  std::optional<launcher::JournalPosition> known_;  // what the archive has
  std::optional<launcher::JournalPosition> seen_;   // the newest fact that it lacks
  std::optional<std::string> why_rebuild_;
  std::vector<Change> changes_;
};

// In a replay: an archive that lacks more is made anew, which needs no memory for the changes.
inline constexpr std::size_t kMaxReplayedChanges = 100'000;

}  // namespace lockstep::archive
