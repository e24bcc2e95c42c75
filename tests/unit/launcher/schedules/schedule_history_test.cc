// Random histories of a schedule: minutes pass, runs end, the launcher stops and starts, people
// switch, pause, ask and change the text. A model that goes from minute to minute must say the same
// runs, and invariants hold after each step.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/unit/launcher/schedules/minute_model.h"
#include "tests/unit/launcher/schedules/schedule_world.h"

namespace lockstep::launcher {
namespace {

using test::in_utc;
using test::machine_zones;
using test::ModelMinute;
using test::ModelTrigger;
using test::schedule_of;
using test::ScheduleWorld;
using test::utc_text;

// What got a run, or none, as one line each.
std::string line_of(Instant due, std::uint64_t missed, const std::string& what) {
  return utc_text(due) + " +" + std::to_string(missed) + " " + what;
}
std::string line_of(const ScheduleEntry& entry) {
  const auto* run = std::get_if<ScheduleEntry::Run>(&entry.what);
  if (run == nullptr) return line_of(entry.due.at, entry.due.missed, "none");
  return line_of(entry.due.at, entry.due.missed, run->cause == FiringCause::time ? "run" : "asked");
}

// The rules, told by what is pending instead of by times.
struct HistoryModel {
  Overlap overlap = Overlap::allow;
  bool enabled = true, paused = false;
  std::size_t open = 0;
  std::vector<Instant> pending;  // times without an answer
  std::vector<std::string> lines;

  bool is_active() const { return enabled && !paused; }
  bool is_blocked() const { return overlap == Overlap::allow ? open >= kMaxOpenRuns : open > 0; }
  void time_comes(Instant time) { pending.push_back(time); }
  void answer(const std::string& what) {
    if (pending.empty()) return;
    const std::uint64_t missed = std::min<std::uint64_t>(pending.size() - 1, kMaxCountedMisses);
    lines.push_back(line_of(pending.back(), missed, what));
    pending.clear();
  }
  void run_ends() {
    const bool was_blocked = is_blocked();
    --open;
    if (was_blocked && !is_blocked() && overlap != Overlap::queue && is_active()) answer("none");
  }
  void look() {
    if (!is_active() || is_blocked() || pending.empty()) return;
    answer("run");
    ++open;
  }
  void switch_to(bool on, bool pause) {
    const bool was_active = is_active();
    enabled = on;
    paused = pause;
    if (is_active() && !was_active) pending.clear();
  }
};

class History {
 public:
  explicit History(unsigned seed) : random_(seed) {
    begin_ = in_utc(any(2) == 0 ? "2025-03-29T12:00:00" : "2025-10-25T12:00:00");
    zone_ = any(2) == 0 ? "Europe/Berlin" : "UTC";
    minutes_ = test::minutes_between(machine_zones(), zone_, begin_, begin_ + minutes(3 * 24 * 60));
    model_.overlap = kOverlaps[any(3)];
    new_trigger();
    world_.apply(begin_, ScheduleSet{text(), "ann", "ann", false});
  }

  void run() {
    for (const ModelMinute& minute : minutes_) {
      if (minute.at <= begin_) continue;
      now_ = minute.at;
      bool is_time = false;
      for (auto local = minute.after + 1; local <= minute.shown && !is_time; ++local)
        is_time = names(trigger_, local);
      if (is_time && now_ > set_at_ && now_ >= start_) model_.time_comes(now_);
      if (any(200) == 0) is_up_ = !is_up_;
      if (is_up_) step();
      if (testing::Test::HasFailure()) return;
    }
    is_up_ = true;
    step();
    compare(kMaxScheduleEntries);
    ScheduleTable replayed;
    for (const auto& [at, fact] : world_.facts) replayed.apply(at, fact);
    EXPECT_EQ(replayed, world_.table);
  }

 private:
  int any(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }

  JobSchedule text() const { return schedule_of(trigger_.trigger, model_.overlap); }
  void new_trigger() {
    set_at_ = now_.ns == 0 ? begin_ : now_;
    const Trigger before = trigger_.trigger;
    do trigger_ = test::random_trigger(random_, zone_, machine_zones().local(zone_, begin_));
    while (trigger_.trigger == before);
    start_ = trigger_.trigger.start_time
                 ? machine_zones().instant(zone_, *trigger_.trigger.start_time)
                 : set_at_;
    model_.pending.clear();
  }

  void step() {
    end_runs();
    if (any(60) == 0) people();
    look();
    check();
  }
  // As the launcher does: only when the clock of schedules says so.
  void look() {
    if (world_.clock.next() <= now_) world_.look(now_);
    model_.look();
  }

  void end_runs() {
    // Seldom at first, so that runs overlap.
    while (model_.open > 0 && any(90) == 0) {
      const auto& open = world_.schedule().open;
      auto run = open.begin();
      std::advance(run, any(static_cast<int>(open.size())));
      world_.end(now_, run->second);
      model_.run_ends();
      // The facts of one step follow each other, and each end is looked at.
      look();
    }
  }

  void people() {
    switch (any(6)) {
      case 0: return switch_to(!model_.enabled, model_.paused);
      case 1: return switch_to(model_.enabled, !model_.paused);
      case 2: return switch_to(true, false);
      case 3: return ask();
      case 4: {
        new_trigger();
        return world_.set(now_, text());
      }
      default: {  // another text of the same trigger
        JobSchedule changed = text();
        changed.description = std::to_string(any(1'000));
        return world_.set(now_, changed);
      }
    }
  }
  void switch_to(bool enabled, bool paused) {
    if (enabled != model_.enabled) world_.apply(now_, ScheduleSwitched{"retrain", enabled, "ann"});
    model_.switch_to(enabled, model_.paused);
    if (paused != model_.paused) world_.apply(now_, SchedulePaused{"retrain", paused, "oli"});
    model_.switch_to(enabled, paused);
  }
  void ask() {
    const bool may = !model_.paused && !model_.is_blocked();
    EXPECT_EQ(world_.ask(now_), may);
    if (!may) return;
    model_.lines.push_back(line_of(now_, 0, "asked"));
    ++model_.open;
  }

  void check() {
    EXPECT_EQ(world_.schedule().open.size(), model_.open);
    if (world_.facts.size() == compared_ && any(50) != 0) return;
    EXPECT_EQ(wrong_with(world_.table), "");
    const Instant next = next_look(world_.schedule(), now_, machine_zones());
    EXPECT_GT(next, now_) << "all that is due was answered";
    EXPECT_EQ(world_.clock.next(), next);
    if (world_.facts.size() == compared_) return;
    compared_ = world_.facts.size();
    compare(5);
  }
  // The newest entries.
  void compare(std::size_t most) {
    const auto& entries = world_.schedule().recent;
    const std::size_t count = std::min({most, model_.lines.size(), entries.size()});
    EXPECT_EQ(entries.size(), std::min(model_.lines.size(), kMaxScheduleEntries));
    std::vector<std::string> recent;
    for (std::size_t i = entries.size() - count; i < entries.size(); ++i)
      recent.push_back(line_of(entries[i]));
    const std::vector<std::string> expected(model_.lines.end() - static_cast<std::ptrdiff_t>(count),
                                            model_.lines.end());
    ASSERT_EQ(recent, expected) << to_string(trigger_.trigger) << " at " << utc_text(now_);
  }

  std::mt19937 random_;
  Instant begin_, now_, set_at_, start_;
  std::string zone_;
  std::vector<ModelMinute> minutes_;
  ModelTrigger trigger_;
  HistoryModel model_;
  ScheduleWorld world_;
  bool is_up_ = true;
  std::size_t compared_ = 0;  // facts
};

class ScheduleHistory : public testing::TestWithParam<unsigned> {};

TEST_P(ScheduleHistory, IsThatOfTheModel) { History(GetParam()).run(); }

INSTANTIATE_TEST_SUITE_P(Seeds, ScheduleHistory, testing::Range(1u, 61u));

}  // namespace
}  // namespace lockstep::launcher
