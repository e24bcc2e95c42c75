#include "launcher/archive/follower.h"

#include <fmt/format.h>

#include <iterator>

namespace lockstep::archive {

void Follower::give_up(std::string why) {
  if (!why_rebuild_) why_rebuild_ = std::move(why);
  changes_.clear();
}

// The archive knows all facts up to this one.
void Follower::compare(const launcher::JournalPosition& position) {
  const bool is_same_file = position.generation == known_->generation;
  if (is_same_file && position.facts == known_->facts && position.chain != known_->chain)
    give_up(fmt::format("fact {} of the journal is another one now", position.facts));
}

void Follower::see(const launcher::StampedFact& fact, const SubmittedAs& as,
                   const launcher::JournalPosition& position) {
  const bool is_known = known_ && position.facts <= known_->facts;
  if (is_known && is_replayed_) return;
  std::vector<Change> changes;
  fold_.see(fact, as, &changes);
  if (is_known) return compare(position);
  seen_ = position;
  if (why_rebuild_) return;
  if (!is_replayed_ && !known_) return give_up("there was none");
  changes_.insert(changes_.end(), std::make_move_iterator(changes.begin()),
                  std::make_move_iterator(changes.end()));
  if (!is_replayed_ && changes_.size() > kMaxReplayedChanges) give_up("it lacked too much");
}

std::optional<std::string> Follower::end_replay(const launcher::JournalPosition& end) {
  is_replayed_ = true;
  if (why_rebuild_ || !known_) return why_rebuild_;
  const bool is_next = end.generation == known_->generation + 1;
  if (end.facts < known_->facts)
    give_up(fmt::format("the journal has {} facts, and the archive was made of {}", end.facts,
                        known_->facts));
  else if (end.generation != known_->generation && !is_next)
    give_up("the journal was compacted more than once without it");
  else if (known_->facts < end.compacted)
    give_up("the journal was compacted before all of it was archived");
  else if (end != *known_)
    seen_ = end;  // also without new facts: the next compaction may be one too many
  return why_rebuild_;
}

void Follower::compacted(const launcher::JournalPosition& end) {
  if (!why_rebuild_) seen_ = end;
}

std::optional<Follower::Batch> Follower::take() {
  if (!seen_ || why_rebuild_) return std::nullopt;
  Batch batch{std::exchange(changes_, {}), *seen_};
  known_ = std::exchange(seen_, std::nullopt);
  return batch;
}

}  // namespace lockstep::archive
