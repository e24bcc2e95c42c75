#pragma once
// A bounded queue that takes turns: one item of each principal after the other, the oldest first.
// So a principal with one waiting item waits for at most one item of each other principal. The
// number of items is bounded for each principal and in all, and further items are refused. Not
// thread-safe.

#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "common/base/time.h"
#include "launcher/daemon/work/shares.h"

namespace lockstep::launcher {

// The time during which the loop handles messages of users before it handles nodes' messages again.
inline constexpr Duration kUsersServedFor = milliseconds(10);

template <typename Item>
class TurnQueue {
 public:
  explicit TurnQueue(ShareBounds bounds) : shares_(std::move(bounds)) {}

  // Adds an item. Returns resource_exhausted, without the item, if the bounds of `who` or of all
  // are reached.
  Status push(const std::string& who, Item item, std::uint64_t bytes = 0) {
    TRY(shares_.take(who, bytes));
    line_of(who).items.push_back({std::move(item), bytes});
    return {};
  }
  // Adds an item that may not be refused.
  void push_anyway(const std::string& who, Item item, std::uint64_t bytes = 0) {
    shares_.take_anyway(who, bytes);
    line_of(who).items.push_back({std::move(item), bytes});
  }
  // Puts back an item that was begun: it comes before the others of `who`, whose turn comes last.
  // Not refused.
  void put_back(const std::string& who, Item item) {
    shares_.take_anyway(who);
    Line& line = line_of(who);
    line.items.push_front({std::move(item), 0});
    turns_.splice(turns_.end(), turns_, line.turn);
  }

  struct Taken {
    std::string who;
    Item item;
  };
  // The item whose turn it is among the principals whose first item `may` be taken.
  template <typename May>
  std::optional<Taken> pop(const May& may) {
    for (auto turn = turns_.begin(); turn != turns_.end(); ++turn) {
      const auto line = *turn;
      auto& items = line->second.items;
      if (!may(line->first, std::as_const(items.front().item))) continue;
      Waiting waiting = std::move(items.front());
      items.pop_front();
      shares_.give_back(line->first, waiting.bytes);
      Taken taken{line->first, std::move(waiting.item)};
      if (items.empty()) {
        turns_.erase(turn);
        lines_.erase(line);
      } else {
        turns_.splice(turns_.end(), turns_, turn);
      }
      return taken;
    }
    return std::nullopt;
  }
  std::optional<Taken> pop() {
    return pop([](const std::string&, const Item&) { return true; });
  }

  bool empty() const { return lines_.empty(); }
  std::size_t size() const { return shares_.count(); }
  std::size_t size_of(const std::string& who) const { return shares_.count_of(who); }
  bool others_wait(const std::string& who) const { return lines_.size() > lines_.count(who); }
  void each(const std::function<void(Item&)>& visit) {
    for (auto& [who, line] : lines_)
      for (Waiting& waiting : line.items) visit(waiting.item);
  }

 private:
  struct Waiting {
    Item item;
    std::uint64_t bytes = 0;
  };
  struct Line;
  using Lines = std::map<std::string, Line>;
  using Ring = std::list<typename Lines::iterator>;
  struct Line {
    std::deque<Waiting> items;
    typename Ring::iterator turn;
  };
  Line& line_of(const std::string& who) {
    const auto [line, is_new] = lines_.try_emplace(who);
    if (is_new) line->second.turn = turns_.insert(turns_.end(), line);
    return line->second;
  }

  Shares shares_;
  Lines lines_;  // none is empty
  Ring turns_;   // the waiting lines; the next turn belongs to the first
};

}  // namespace lockstep::launcher
