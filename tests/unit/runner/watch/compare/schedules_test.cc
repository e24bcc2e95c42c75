// Random programs of ranks: computing, reading and sleeping without any movement, and barriers of
// all ranks or of some. A program that goes on must never be called a hang, whatever its pauses,
// and one that is stuck must be.

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>

#include "tests/unit/runner/watch/compare/gang_world.h"

namespace lockstep::runner {
namespace {

struct Step {
  enum class Kind { compute, read, sleep, write, barrier };
  Kind kind = Kind::compute;
  Duration length{0};
  int group = 0;  // of a barrier
};

struct Schedule {
  std::vector<std::set<int>> groups;
  std::vector<std::vector<Step>> programs;  // by rank
};

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  int upto(int most) { return std::uniform_int_distribution<int>(0, most)(engine_); }
  bool one_in(int n) { return upto(n - 1) == 0; }

 private:
  std::mt19937 engine_;
};

Step local_step(Dice& dice) {
  static constexpr Step::Kind kKinds[] = {Step::Kind::compute, Step::Kind::read, Step::Kind::sleep,
                                          Step::Kind::write};
  // Mostly short; some last much longer than hang_after.
  const Duration length = dice.one_in(4) ? seconds(60 + dice.upto(840)) : seconds(dice.upto(30));
  return {kKinds[dice.upto(3)], length, 0};
}

// Each event is of one rank or of a group, in one order for all: so it cannot be stuck.
Schedule schedule(Dice& dice, int ranks) {
  Schedule made;
  std::set<int> all;
  for (int rank = 0; rank < ranks; ++rank) all.insert(rank);
  made.groups.push_back(all);
  for (int i = 0; i < 3; ++i) {
    std::set<int> some;
    for (int rank = 0; rank < ranks; ++rank)
      if (dice.one_in(2)) some.insert(rank);
    if (some.size() > 1) made.groups.push_back(some);
  }
  made.programs.resize(static_cast<std::size_t>(ranks));
  const int events = 10 + dice.upto(30);
  for (int i = 0; i < events; ++i) {
    if (dice.one_in(2)) {
      made.programs[static_cast<std::size_t>(dice.upto(ranks - 1))].push_back(local_step(dice));
      continue;
    }
    const int group = dice.upto(static_cast<int>(made.groups.size()) - 1);
    for (const int rank : made.groups[static_cast<std::size_t>(group)])
      made.programs[static_cast<std::size_t>(rank)].push_back(
          {Step::Kind::barrier, Duration::zero(), group});
  }
  return made;
}

// Runs a schedule on the ranks of a gang, second by second.
class Play {
 public:
  Play(GangWorld& gang, Schedule schedule)
      : gang_(gang),
        schedule_(std::move(schedule)),
        places_(schedule_.programs.size()),
        progress_(gang.now()) {
    for (std::size_t i = 0; i < places_.size(); ++i) show(static_cast<int>(i), gang.now());
    gang.script = [this](Instant now) { go_on(now); };
  }
  ~Play() { gang_.script = nullptr; }

  bool is_over() const {
    for (std::size_t i = 0; i < places_.size(); ++i)
      if (places_[i].step < schedule_.programs[i].size()) return false;
    return true;
  }
  Instant last_progress() const { return progress_; }

 private:
  struct Place {
    std::size_t step = 0;
    Instant since;
  };

  const Step* step_of(int rank) const {
    const auto& program = schedule_.programs[static_cast<std::size_t>(rank)];
    const std::size_t step = places_[static_cast<std::size_t>(rank)].step;
    return step < program.size() ? &program[step] : nullptr;
  }

  void show(int rank, Instant now) {
    places_[static_cast<std::size_t>(rank)].since = now;
    SimRank& one = gang_.rank(rank);
    one.flows = false;
    const Step* const step = step_of(rank);
    if (step == nullptr) return one.exits();
    switch (step->kind) {
      case Step::Kind::compute: return one.computes();
      case Step::Kind::read: return one.reads("/data/x");
      case Step::Kind::sleep: return one.sleeps();
      case Step::Kind::write:
        one.computes();
        one.flows = true;
        return;
      case Step::Kind::barrier:
        return one.waits("MPI_Barrier", "line " + std::to_string(step->group));
    }
  }

  void next(int rank, Instant now) {
    ++places_[static_cast<std::size_t>(rank)].step;
    progress_ = now;
    show(rank, now);
  }

  bool is_open(int group) const {
    for (const int rank : schedule_.groups[static_cast<std::size_t>(group)]) {
      const Step* const step = step_of(rank);
      if (step == nullptr || step->kind != Step::Kind::barrier || step->group != group)
        return false;
    }
    return true;
  }

  void go_on(Instant now) {
    for (std::size_t group = 0; group < schedule_.groups.size(); ++group) {
      if (!is_open(static_cast<int>(group))) continue;
      for (const int rank : schedule_.groups[group]) {
        gang_.rank(rank).moved = true;
        next(rank, now);
      }
    }
    for (int rank = 0; rank < gang_.ranks(); ++rank) {
      const Step* const step = step_of(rank);
      const bool is_local = step != nullptr && step->kind != Step::Kind::barrier;
      if (is_local && now - places_[static_cast<std::size_t>(rank)].since >= step->length)
        next(rank, now);
    }
  }

  GangWorld& gang_;
  Schedule schedule_;
  std::vector<Place> places_;
  Instant progress_;
};

int seeds(int few) { return std::getenv("LOCKSTEP_HANGS_LONG") != nullptr ? 50 * few : few; }

constexpr Duration kLongest = minutes(60 * 6);

TEST(Schedules, WhatGoesOnIsNeverAnAlarm) {
  for (int seed = 0; seed < seeds(40); ++seed) {
    Dice dice(static_cast<unsigned>(seed));
    GangWorld gang(2 + dice.upto(5), 1 + dice.upto(1), {}, 2 + dice.upto(3));
    Play play(gang, schedule(dice, gang.ranks()));
    const Instant end = gang.now() + kLongest;
    while (!play.is_over() && gang.now() < end) {
      gang.run(seconds(30));
      if (dice.one_in(200)) gang.pause_all(minutes(1 + dice.upto(60)));
      if (dice.one_in(300)) gang.pause_node(dice.upto(1), seconds(dice.upto(100)));
    }
    EXPECT_TRUE(play.is_over()) << "seed " << seed;
    ASSERT_FALSE(gang.was_alarm()) << "seed " << seed << ": " << shown(gang.alarm());
  }
}

// One rank leaves out one barrier: sooner or later nobody goes on.
TEST(Schedules, WhatIsStuckIsAnAlarm) {
  int stuck = 0;
  for (int seed = 0; seed < seeds(40); ++seed) {
    Dice dice(static_cast<unsigned>(100'000 + seed));
    GangWorld gang(2 + dice.upto(5), 1 + dice.upto(1), {}, 2 + dice.upto(3));
    Schedule broken = schedule(dice, gang.ranks());
    auto& program = broken.programs[static_cast<std::size_t>(dice.upto(gang.ranks() - 1))];
    const auto barrier = std::find_if(program.begin(), program.end(), [](const Step& step) {
      return step.kind == Step::Kind::barrier;
    });
    if (barrier == program.end()) continue;
    program.erase(barrier);
    Play play(gang, std::move(broken));
    const Instant end = gang.now() + kLongest;
    while (!play.is_over() && gang.now() < end && !gang.was_alarm()) gang.run(seconds(30));
    ASSERT_TRUE(gang.was_alarm()) << "seed " << seed;
    const Duration after = *gang.alarm_at() - play.last_progress();
    // Computing is no movement: who has computed for long before its barrier is still since then.
    EXPECT_GE(after, kLooksApart) << "seed " << seed << ": " << shown(gang.alarm());
    EXPECT_LE(after, seconds(200)) << "seed " << seed << ": " << shown(gang.alarm());
    ++stuck;
  }
  EXPECT_GT(stuck, seeds(40) / 2);
}

}  // namespace
}  // namespace lockstep::runner
