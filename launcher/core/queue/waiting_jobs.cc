#include "launcher/core/queue/waiting_jobs.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "launcher/core/queue/reservation.h"

namespace lockstep::launcher {

namespace {

// Steps through the jobs of one user in order of submission.
class LineCursor {
 public:
  explicit LineCursor(const WaitingJobs::Line& line) {
    for (const auto& [kind, orders] : line.classes)
      ranges_.emplace_back(orders.begin(), orders.end());
    std::make_heap(ranges_.begin(), ranges_.end(), later);
  }
  bool at_end() const { return ranges_.empty(); }
  std::uint64_t order() const { return *ranges_.front().first; }
  void next() {
    std::pop_heap(ranges_.begin(), ranges_.end(), later);
    if (++ranges_.back().first == ranges_.back().second)
      ranges_.pop_back();
    else
      std::push_heap(ranges_.begin(), ranges_.end(), later);
  }

 private:
  using Iterator = WaitingJobs::Orders::const_iterator;
  using Range = std::pair<Iterator, Iterator>;
  static bool later(const Range& a, const Range& b) { return *a.first > *b.first; }
  std::vector<Range> ranges_;
};

using Cursors = std::map<std::string, LineCursor>;
using Take = std::function<bool(std::uint64_t)>;

// The jobs at the head, each behind the older jobs of its user.
bool visit_heads(const WaitingJobs::Level& level, Cursors& cursors, const Take& take) {
  WaitingJobs::Orders seen;
  for (const auto& [key, user] : level.at_head) {
    const auto cursor = cursors.find(user);
    for (const std::uint64_t order : level.heads_until(user, key.second)) {
      if (!seen.insert(order).second) continue;
      for (; cursor != cursors.end() && !cursor->second.at_end() && cursor->second.order() < order;
           cursor->second.next())
        if (!take(cursor->second.order())) return false;
      if (!take(order)) return false;
    }
  }
  return true;
}

bool visit_level(const WaitingJobs::Level& level, const WaitingJobs::ShareOf& share_of,
                 const Take& take) {
  Cursors cursors;
  for (const auto& [user, line] : level.users) cursors.emplace(user, LineCursor(line));
  if (!visit_heads(level, cursors, take)) return false;
  struct Turn {
    double share = 0;
    LineCursor* cursor = nullptr;
  };
  std::vector<Turn> turns;
  for (auto& [user, cursor] : cursors)
    if (!cursor.at_end()) turns.push_back({cursors.size() > 1 ? share_of(user) : 0, &cursor});
  std::sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) {
    return std::pair(a.share, a.cursor->order()) < std::pair(b.share, b.cursor->order());
  });
  while (!turns.empty()) {
    for (Turn& turn : turns) {
      if (!take(turn.cursor->order())) return false;
      turn.cursor->next();
    }
    std::erase_if(turns, [](const Turn& turn) { return turn.cursor->at_end(); });
  }
  return true;
}

}  // namespace

WaitingJobs::Orders WaitingJobs::Level::heads_until(const std::string& user,
                                                    std::uint64_t order) const {
  Orders found;
  for (const auto& [key, whose] : at_head)
    if (whose == user && key.second <= order) found.insert(key.second);
  return found;
}

JobClass class_of(const CoreConfig& config, const Job& job) {
  return {shape_of(job), longest_hold(config, job.spec)};
}

void WaitingJobs::add(const Job& job, JobClass kind) {
  remove(job.order);
  Level& level = levels_[job.spec.queue.priority];
  Place put{job.spec.queue.priority, job.spec.submitter, {}, std::move(kind)};
  const Job::Waiting& waiting = job.waiting();
  if (waiting.at_head) put.head_since = waiting.head_since;
  const auto place = places_.emplace(job.order, std::move(put));
  if (waiting.at_head) {
    level.at_head.emplace(std::pair(waiting.head_since, job.order), job.spec.submitter);
    return;
  }
  Line& line = level.users[job.spec.submitter];
  const auto found = line.classes.try_emplace(place.first->second.kind).first;
  if (!found->second.empty()) line.firsts.erase(*found->second.begin());
  found->second.insert(job.order);
  line.firsts.emplace(*found->second.begin(), &found->first);
}

void WaitingJobs::remove(std::uint64_t order) {
  const auto place = places_.find(order);
  if (place == places_.end()) return;
  const auto level = levels_.find(place->second.priority);
  if (place->second.head_since) {
    level->second.at_head.erase({*place->second.head_since, order});
  } else {
    const auto line = level->second.users.find(place->second.user);
    const auto kind = line->second.classes.find(place->second.kind);
    line->second.firsts.erase(*kind->second.begin());
    kind->second.erase(order);
    if (kind->second.empty())
      line->second.classes.erase(kind);
    else
      line->second.firsts.emplace(*kind->second.begin(), &kind->first);
    if (line->second.classes.empty()) level->second.users.erase(line);
  }
  if (level->second.at_head.empty() && level->second.users.empty()) levels_.erase(level);
  places_.erase(place);
}

void WaitingJobs::visit(const ShareOf& share_of,
                        const std::function<bool(std::uint64_t)>& take) const {
  for (const auto& [priority, level] : levels_)
    if (!visit_level(level, share_of, take)) return;
}

WaitingJobs::Orders WaitingJobs::with_shape(const Shape& shape) const {
  Orders orders;
  for (const auto& [priority, level] : levels_) {
    for (const auto& [key, user] : level.at_head)
      if (places_.at(key.second).kind.shape == shape) orders.insert(key.second);
    for (const auto& [user, line] : level.users)
      for (const auto& [kind, those] : line.classes)
        if (kind.shape == shape) orders.insert(those.begin(), those.end());
  }
  return orders;
}

}  // namespace lockstep::launcher
