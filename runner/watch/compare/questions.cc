// Questions to all nodes for new data: stacks of ranks that are named, and whether evidence of a
// hang still holds.

#include <algorithm>
#include <utility>

#include "runner/watch/compare/comparison.h"

namespace lockstep::runner {
namespace {

constexpr std::size_t kRanksToName = 4;  // the most ranks that one finding names

}  // namespace

void Comparison::settle_question(const GangNow& gang, Instant now) {
  if (!question_) return;
  std::erase_if(question_->missing, [&](int rank) {
    const RankNow& one = gang[static_cast<std::size_t>(rank)];
    return one.role == Role::ended || one.is_lost;
  });
  const bool is_full = question_->missing.empty();
  if (!is_full && now - question_->asked < kLookTimeout) return;
  take_answer(*question_, is_full, now);
  question_.reset();
  if (!is_full) ask_again_at_ = now + kLooksApart;
}

void Comparison::take_answer(const Question& question, bool is_full, Instant now) {
  const GangLook& look = question.look;
  const auto was_asked = [&](int rank) {
    return look.all || std::binary_search(look.ranks.begin(), look.ranks.end(), rank);
  };
  for (auto& [key, one] : cases_) {
    const Evidence& evidence = one.evidence;
    if (look.stacks) {
      const auto& ranks = evidence.found.ranks;
      if (!ranks.empty() && was_asked(ranks.front().rank)) one.named = now;
      continue;
    }
    const bool is_covered =
        look.all || (!evidence.look_at.empty() &&
                     std::all_of(evidence.look_at.begin(), evidence.look_at.end(), was_asked));
    // Counts that were not renewed since the last look prove nothing.
    const bool is_counted = evidence.counted.ns == 0 ||
                            evidence.counted > (one.confirmed == 0 ? one.first : one.confirmed_at);
    if (!is_full || !evidence.may_hang || !is_covered || !is_counted) continue;
    if (one.first > question.asked) continue;
    ++one.confirmed;
    one.confirmed_at = now;
  }
}

void Comparison::choose_question(const GangNow& gang, Instant now) {
  if (question_ || now < ask_again_at_) return;
  if (!ask_for_stacks(gang, now) && !ask_after_left(gang, now)) ask_again(gang, now);
}

bool Comparison::ask_for_stacks(const GangNow& gang, Instant now) {
  const bool is_wanted = std::any_of(cases_.begin(), cases_.end(), [](const auto& each) {
    return each.second.evidence.needs_stacks;
  });
  if (is_wanted) names_wanted_ = now;
  if (now - names_wanted_ > kLongestPauseOfNames) {
    name_pause_ = Duration::zero();
    name_again_at_ = {};
  }
  if (!is_wanted || now < name_again_at_) return false;
  std::set<int> ranks;
  for (auto& [key, one] : cases_) {
    const bool is_due =
        one.evidence.needs_stacks && (one.named.ns == 0 || now - one.named >= kNameAgainEvery);
    if (!is_due || ranks.size() + kRanksToName > kMaxFoundRanks) continue;
    std::size_t count = 0;
    for (const FoundRank& rank : one.evidence.found.ranks) {
      if (count == kRanksToName) break;
      if (gang[static_cast<std::size_t>(rank.rank)].is_lost) continue;
      ranks.insert(rank.rank);
      ++count;
    }
    if (count == 0) one.named = now;
  }
  if (ranks.empty()) return false;
  name_pause_ = std::clamp<Duration>(2 * name_pause_, kLeastPauseOfNames, kLongestPauseOfNames);
  name_again_at_ = now + name_pause_;
  GangLook look;
  look.ranks.assign(ranks.begin(), ranks.end());
  look.stacks = true;
  ask(std::move(look), gang, now);
  return true;
}

// Asks first how long the others have not moved, since nodes do not report that of a rank that may
// go on. Later asks for their stacks, less and less often.
bool Comparison::ask_after_left(const GangNow& gang, Instant now) {
  GangLook look;
  std::size_t left = 0;
  Instant last_left;
  bool is_known = true, is_still = true, is_open = false;
  for (const RankNow& one : gang) {
    if (one.standing == nullptr) return false;
    if (one.role == Role::ended) {
      left += one.standing->exit_code == 0 ? 1 : 0;
      last_left = std::max(last_left, one.standing->doing_since);
    } else if (!one.is_lost) {
      look.ranks.push_back(one.standing->rank);
      is_open = is_open || !is_stuck(one.role);
      is_known = is_known && now - one.standing->taken < kLookTimeout;
      is_still = is_still && one.standing->still() >= kStalledAfter;
    }
  }
  if (left == 0 || !is_open || look.ranks.size() > kMostAskedAfterLeft) return false;
  if (std::exchange(left_, left) != left) {
    left_pause_ = kSayLeftAfter;
    ask_left_at_ = last_left + left_pause_;
  }
  if (now < ask_left_at_) return false;
  look.stacks = is_known && is_still;
  if (is_known) {
    left_pause_ = std::min<Duration>(2 * left_pause_, kLongestPauseAfterLeft);
    ask_left_at_ = now + left_pause_;
    if (!is_still) return false;
  }
  ask(std::move(look), gang, now);
  return true;
}

void Comparison::ask_again(const GangNow& gang, Instant now) {
  GangLook look;
  std::set<int> ranks;
  bool is_due = false;
  for (const auto& [key, one] : cases_) {
    const bool is_open = one.evidence.may_hang && one.confirmed < kLooksForHang;
    if (!is_open || (one.confirmed > 0 && now - one.confirmed_at < kLooksApart)) continue;
    is_due = true;
    if (one.evidence.look_at.empty()) look.all = true;
    ranks.insert(one.evidence.look_at.begin(), one.evidence.look_at.end());
  }
  if (!is_due) return;
  if (ranks.size() > kMaxRanksOfLook) look.all = true;
  if (!look.all) look.ranks.assign(ranks.begin(), ranks.end());
  ask(std::move(look), gang, now);
}

void Comparison::ask(GangLook look, const GangNow& gang, Instant now) {
  look.id = ++last_id_;
  std::set<int> missing(look.ranks.begin(), look.ranks.end());
  if (look.all)
    for (std::size_t i = 0; i < gang.size(); ++i)
      if (gang[i].standing != nullptr && gang[i].role != Role::ended && !gang[i].is_lost)
        missing.insert(missing.end(), static_cast<int>(i));
  question_ = Question{std::move(look), now, std::move(missing)};
  is_unasked_ = true;
}

std::optional<GangLook> Comparison::question(Instant now) {
  if (!question_ || !std::exchange(is_unasked_, false)) return std::nullopt;
  question_->asked = now;
  return question_->look;
}

}  // namespace lockstep::runner
