// What a sweep does next: trials to start and to stop, suggestions to ask for, and its end.

#include "launcher/sweeps/next.h"

#include <gmock/gmock.h>

#include <random>
#include <set>

#include "launcher/sweeps/json_text.h"
#include "launcher/sweeps/sampler.h"
#include "tests/unit/launcher/sweeps/spaces.h"

namespace lockstep::sweeps {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using Verdict = SweepOutcome::Verdict;

constexpr Instant kBegan{1'700'000'000'000'000'000};

SweepSpec some_sweep(int trials, int at_once) {
  return sweep_over({{"lr", UniformRange{0, 1, false, {}}}, {"n", RandomInteger{50}}}, trials,
                    at_once);
}

SweepSpec bayesian_sweep(int trials, int at_once) {
  SweepSpec sweep = sweep_over({{"lr", UniformRange{0, 1, false, {}}}}, trials, at_once);
  sweep.sampling = BayesianSampling{"5.0.0"};
  return sweep;
}

// Plays the core: takes what next() says as facts.
struct Play {
  SweepSpec sweep;
  SweepProgress progress = {};
  Instant now = kBegan;

  explicit Play(SweepSpec spec) : sweep(std::move(spec)) {
    progress.seed = 11;
    progress.began = kBegan;
  }

  SweepStep look() const { return next(sweep, progress, now); }
  SweepStep turn() {
    SweepStep step = look();
    if (step.ending) progress.ending = step.ending;
    for (const TrialStop& stop : step.stop) {
      EXPECT_EQ(progress.trials.at(stop.trial).state, TrialState::active);
      progress.trials.at(stop.trial).state = TrialState::stopping;
    }
    for (const TrialParameters& parameters : step.start) progress.trials.push_back({parameters});
    if (step.ask) progress.asked += step.ask->count;
    return step;
  }
  void end(std::size_t trial, TrialState state) { progress.trials.at(trial).state = state; }
  void log(std::size_t trial, double value) {
    add_value(sweep.early_termination, sweep.objective.goal, value,
              &progress.trials.at(trial).metric);
  }
};

std::vector<std::size_t> stopped_of(const SweepStep& step) {
  std::vector<std::size_t> stopped;
  for (const TrialStop& stop : step.stop) stopped.push_back(stop.trial);
  return stopped;
}

TEST(Next, AsManyTrialsRunAsMay) {
  Play play(some_sweep(5, 2));
  EXPECT_THAT(play.turn().start, SizeIs(2));
  EXPECT_THAT(play.turn().start, IsEmpty());
  play.end(0, TrialState::completed);
  const SweepStep step = play.turn();
  ASSERT_THAT(step.start, SizeIs(1));
  EXPECT_EQ(step.start[0], sample(play.sweep, 11, 2));
  EXPECT_FALSE(step.outcome);
}

TEST(Next, WithoutALimitAllRunAtOnce) {
  Play play(some_sweep(5, 0));
  EXPECT_THAT(play.turn().start, SizeIs(5));
}

TEST(Next, ATrialThatIsBeingStoppedKeepsItsPlace) {
  Play play(some_sweep(5, 2));
  play.turn();
  play.end(0, TrialState::stopping);
  EXPECT_THAT(play.turn().start, IsEmpty());
  play.end(0, TrialState::stopped);
  EXPECT_THAT(play.turn().start, SizeIs(1));
}

TEST(Next, ASweepEndsWithTheBestOfItsCompletedTrials) {
  Play play(some_sweep(3, 3));
  play.turn();
  play.log(0, 0.5);
  play.log(1, 0.9);
  play.log(2, 0.7);
  play.log(2, 0.1);
  play.end(0, TrialState::completed);
  play.end(1, TrialState::failed);
  EXPECT_FALSE(play.turn().outcome);
  play.end(2, TrialState::completed);
  const auto outcome = play.turn().outcome;
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->verdict, Verdict::completed);
  EXPECT_EQ(outcome->best, 2u) << "the failed one does not count, and the best value does";
  EXPECT_EQ(outcome->ending, std::nullopt);
}

TEST(Next, OfEqualTrialsTheFirstIsBest) {
  Play play(some_sweep(2, 2));
  play.sweep.objective.goal = Goal::minimize;
  play.turn();
  for (const std::size_t trial : {0u, 1u}) {
    play.log(trial, 0.5);
    play.end(trial, TrialState::completed);
  }
  EXPECT_EQ(play.turn().outcome->best, 0u);
}

TEST(Next, WithoutACompletedTrialASweepFails) {
  Play play(some_sweep(2, 2));
  play.turn();
  play.end(0, TrialState::failed);
  play.end(1, TrialState::canceled);
  EXPECT_EQ(play.turn().outcome->verdict, Verdict::failed);
  play.end(0, TrialState::canceled);
  EXPECT_EQ(play.turn().outcome->verdict, Verdict::canceled);
  play.end(0, TrialState::completed);
  EXPECT_EQ(play.turn().outcome->verdict, Verdict::completed);
  EXPECT_EQ(play.turn().outcome->best, std::nullopt) << "it logged nothing";
}

TEST(Next, TheTimeOutStopsAllTrials) {
  Play play(some_sweep(9, 2));
  play.sweep.limits.timeout = seconds(60);
  EXPECT_EQ(play.turn().deadline, kBegan + seconds(60));
  play.log(0, 0.5);
  play.end(0, TrialState::completed);
  play.turn();
  play.now = kBegan + seconds(60);
  const SweepStep step = play.turn();
  EXPECT_EQ(step.ending, SweepEnding::timeout);
  EXPECT_THAT(step.start, IsEmpty());
  EXPECT_THAT(stopped_of(step), ElementsAre(1, 2));
  EXPECT_FALSE(step.outcome) << "they have not ended";
  EXPECT_THAT(play.turn().stop, IsEmpty());
  play.end(1, TrialState::stopped);
  play.end(2, TrialState::completed);
  const auto outcome = play.turn().outcome;
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->verdict, Verdict::canceled);
  EXPECT_EQ(outcome->ending, SweepEnding::timeout);
  EXPECT_EQ(outcome->best, 0u);
}

TEST(Next, ACanceledSweepStopsItsTrials) {
  Play play(some_sweep(9, 3));
  play.turn();
  play.progress.ending = SweepEnding::canceled;
  const SweepStep step = play.turn();
  EXPECT_THAT(stopped_of(step), ElementsAre(0, 1, 2));
  EXPECT_THAT(step.start, IsEmpty());
  for (const std::size_t trial : {0u, 1u, 2u}) play.end(trial, TrialState::stopped);
  EXPECT_EQ(play.turn().outcome->verdict, Verdict::canceled);
}

TEST(Next, APolicyStopsTrials) {
  Play play(some_sweep(4, 4));
  play.sweep.early_termination =
      EarlyTermination{BanditPolicy{BanditPolicy::Slack::factor, 0.1}, 1, 0};
  play.turn();
  play.log(0, 0.9);
  play.log(1, 0.2);
  const SweepStep step = play.turn();
  ASSERT_THAT(stopped_of(step), ElementsAre(1));
  EXPECT_TRUE(std::holds_alternative<EarlyStop>(step.stop[0].why));
  EXPECT_THAT(play.turn().stop, IsEmpty());
}

TEST(Next, AGridEndsWithItsCombinations) {
  SweepSpec sweep =
      sweep_over({{"a", choice_of({text_value("x"), text_value("y"), text_value("z")})}}, 100, 2);
  sweep.sampling = GridSampling{};
  Play play(sweep);
  std::set<std::string> seen;
  while (true) {
    const SweepStep step = play.turn();
    for (const TrialParameters& parameters : step.start) seen.insert(json_of(parameters));
    if (step.outcome) break;
    for (std::size_t i = 0; i < play.progress.trials.size(); ++i)
      play.end(i, TrialState::completed);
  }
  EXPECT_THAT(play.progress.trials, SizeIs(3));
  EXPECT_THAT(seen, SizeIs(3));
}

// ---- suggestions --------------------------------------------------------------------------------

TEST(Next, ABayesianSweepAsksForWhatMayStart) {
  Play play(bayesian_sweep(5, 2));
  const SweepStep step = play.turn();
  EXPECT_THAT(step.start, IsEmpty());
  ASSERT_TRUE(step.ask);
  EXPECT_EQ(step.ask->count, 2u);
  EXPECT_EQ(step.ask->first_trial, 0u);
  EXPECT_EQ(step.ask->optuna, "5.0.0");
  EXPECT_FALSE(play.turn().ask) << "one question at a time";
  play.progress.asked = 0;
  for (int i = 0; i < 2; ++i) play.progress.trials.push_back({{{"lr", number_value(0.5)}}});
  EXPECT_FALSE(play.turn().ask) << "no room";
  play.end(0, TrialState::completed);
  const auto next_ask = play.turn().ask;
  ASSERT_TRUE(next_ask);
  EXPECT_EQ(next_ask->count, 1u);
  EXPECT_EQ(next_ask->first_trial, 2u);
  EXPECT_NE(next_ask->seed, step.ask->seed);
}

TEST(Next, TheSameQuestionIsAskedAgainAfterARestart) {
  Play play(bayesian_sweep(5, 2));
  const auto before = play.turn().ask;
  play.progress.asked = 0;  // the launcher started again before the answer
  const auto after = play.turn().ask;
  ASSERT_TRUE(before && after);
  EXPECT_EQ(before->seed, after->seed);
  EXPECT_EQ(before->first_trial, after->first_trial);
}

TEST(Next, WithoutSuggestionsASweepFailsWhenItsTrialsHaveEnded) {
  Play play(bayesian_sweep(5, 2));
  play.progress.trials.push_back({{{"lr", number_value(0.5)}}});
  play.progress.failed_asks = kMaxFailedAsks - 1;
  EXPECT_TRUE(play.look().ask);
  play.progress.failed_asks = kMaxFailedAsks;
  const SweepStep step = play.turn();
  EXPECT_EQ(step.ending, SweepEnding::no_suggestions);
  EXPECT_FALSE(step.ask);
  EXPECT_THAT(step.stop, IsEmpty()) << "what runs goes on";
  EXPECT_FALSE(step.outcome);
  play.log(0, 1);
  play.end(0, TrialState::completed);
  const auto outcome = play.turn().outcome;
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->verdict, Verdict::failed);
  EXPECT_EQ(outcome->best, 0u);
}

TEST(Next, ASweepThatHasAllSuggestionsDoesNotMindTheHelper) {
  Play play(bayesian_sweep(1, 1));
  play.progress.trials.push_back({{{"lr", number_value(0.5)}}});
  play.progress.failed_asks = kMaxFailedAsks;
  EXPECT_EQ(play.turn().ending, std::nullopt);
  play.end(0, TrialState::completed);
  EXPECT_EQ(play.turn().outcome->verdict, Verdict::completed);
}

// ---- whole sweeps -------------------------------------------------------------------------------

// Trials end in any order, and the launcher starts again at any time: then next() is asked anew
// with what the facts have. Each trial has its own values, once.
TEST(Next, EachTrialRunsOnceWhateverComes) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 chance(seed);
    const auto one_in = [&](unsigned n) { return chance() % n == 0; };
    const int trials = 1 + static_cast<int>(chance() % 20);
    Play play(some_sweep(trials, 1 + static_cast<int>(chance() % 5)));
    if (one_in(2)) play.sweep.early_termination = EarlyTermination{TruncationPolicy{30}, 1, 1};
    std::optional<SweepOutcome> outcome;
    for (int turn = 0; turn < 2'000 && !outcome; ++turn) {
      if (one_in(3)) {  // asked and forgotten
        const SweepStep first = play.look(), second = play.look();
        EXPECT_EQ(first.start, second.start);
        EXPECT_EQ(stopped_of(first), stopped_of(second));
      }
      outcome = play.turn().outcome;
      std::size_t running = 0;
      for (std::size_t i = 0; i < play.progress.trials.size(); ++i) {
        const TrialState state = play.progress.trials[i].state;
        running += is_over(state) ? 0 : 1;
        if (state == TrialState::stopping && one_in(2)) play.end(i, TrialState::stopped);
        if (state != TrialState::active) continue;
        if (one_in(2)) play.log(i, static_cast<double>(chance() % 100));
        if (one_in(6)) play.end(i, one_in(4) ? TrialState::failed : TrialState::completed);
      }
      EXPECT_LE(running, static_cast<std::size_t>(play.sweep.limits.at_once()));
    }
    ASSERT_TRUE(outcome) << "seed " << seed << " does not end";
    ASSERT_EQ(play.progress.trials.size(), static_cast<std::size_t>(trials));
    for (std::size_t i = 0; i < play.progress.trials.size(); ++i)
      EXPECT_EQ(play.progress.trials[i].parameters, sample(play.sweep, 11, i));
    if (outcome->best) EXPECT_EQ(play.progress.trials[*outcome->best].state, TrialState::completed);
  }
}

}  // namespace
}  // namespace lockstep::sweeps
