// Questions to the helper of bayesian sweeps, and its answers.

#include "launcher/sweeps/suggestions.h"

#include <gmock/gmock.h>

#include "launcher/sweeps/helper_lines.h"
#include "tests/unit/launcher/sweeps/spaces.h"

namespace lockstep::sweeps {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A number, a number of steps, a choice.
SweepSpec three_parameters() {
  SweepSpec sweep = sweep_over(
      {{"lr", UniformRange{0.1, 1, false, {}}},
       {"units", UniformRange{16, 64, false, 16.0}},
       {"kernel", choice_of({text_value("rbf"), integer_value(3), text_value("poly")})}});
  sweep.sampling = BayesianSampling{"5.0.0"};
  EXPECT_TRUE(validate(sweep));
  return sweep;
}

TrialParameters parameters_of(double lr, int units, const SweepValue& kernel) {
  return {{"lr", number_value(lr)}, {"units", integer_value(units)}, {"kernel", kernel}};
}

SweepProgress some_progress() {
  SweepProgress progress;
  progress.seed = 3;
  const auto add = [&](const TrialParameters& parameters, TrialState state, double value) {
    Trial trial{parameters, state, {}};
    if (!std::isnan(value)) add_value(std::nullopt, Goal::maximize, value, &trial.metric);
    progress.trials.push_back(trial);
  };
  add(parameters_of(0.5, 16, text_value("rbf")), TrialState::completed, 0.25);
  add(parameters_of(0.25, 64, integer_value(3)), TrialState::stopped, 0.125);
  add(parameters_of(1, 32, text_value("poly")), TrialState::active, kNoValue);
  add(parameters_of(0.75, 48, text_value("rbf")), TrialState::failed, 0.5);
  add(parameters_of(0.75, 48, text_value("rbf")), TrialState::completed, kNoValue);
  add(parameters_of(0.5, 16, text_value("unknown")), TrialState::completed, 0.5);
  return progress;
}

TEST(Suggestions, TheHelperGetsNumbersAlone) {
  const auto request = suggestion_request(three_parameters(), some_progress(), 2);
  using Kind = HelperParameter::Kind;
  EXPECT_THAT(request.parameters, ElementsAre(HelperParameter{Kind::number, 0.1, 1, 0},
                                              HelperParameter{Kind::integer, 0, 0, 4},
                                              HelperParameter{Kind::choice, 0, 0, 3}));
  EXPECT_EQ(request.first_trial, 6u);
  EXPECT_LT(request.seed, std::uint64_t{1} << 32);
  ASSERT_EQ(request.trials.size(), 3u) << "not those that failed, logged nothing, or are foreign";
  EXPECT_THAT(request.trials[0].values, ElementsAre(0.5, 0, 0));
  EXPECT_EQ(request.trials[0].objective, 0.25);
  EXPECT_THAT(request.trials[1].values, ElementsAre(0.25, 3, 1));
  EXPECT_EQ(request.trials[1].state, HelperTrial::State::stopped);
  EXPECT_THAT(request.trials[2].values, ElementsAre(1, 1, 2));
  EXPECT_TRUE(std::isnan(request.trials[2].objective));
}

TEST(Suggestions, TrialsOfAnEarlierSweepComeFirst) {
  SweepProgress progress;
  progress.earlier = {{parameters_of(0.5, 32, text_value("rbf")), 0.75},
                      {parameters_of(5, 32, text_value("rbf")), 0.5},
                      {{{"other", integer_value(1)}}, 0.5}};
  const auto request = suggestion_request(three_parameters(), progress, 1);
  ASSERT_EQ(request.trials.size(), 1u) << "only those of this search space";
  EXPECT_EQ(request.trials[0].objective, 0.75);
}

TEST(Suggestions, BecomeValuesOfTrials) {
  EXPECT_EQ(suggested_parameters(three_parameters(), {0.5, 3, 1}).value(),
            parameters_of(0.5, 64, integer_value(3)));
  const std::vector<std::vector<double>> wrong = {{0.5, 3},      {0.05, 3, 1}, {0.5, 4, 1},
                                                  {0.5, 1.5, 1}, {0.5, 3, -1}, {kNoValue, 3, 1}};
  for (const auto& values : wrong) {
    const auto refused = suggested_parameters(three_parameters(), values);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::corrupt);
    EXPECT_THAT(refused.error().message, HasSubstr("the helper of a bayesian sweep suggested"));
  }
}

TEST(Suggestions, StepsAreThoseThatRoundingGives) {
  const auto steps = steps_of(UniformRange{0.3, 1, false, 0.25});
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->first, 1) << "round(0.3 / 0.25)";
  EXPECT_EQ(steps->count, 4);
  EXPECT_FALSE(steps_of(UniformRange{0, 1, false, {}}));
  EXPECT_FALSE(steps_of(UniformRange{0, 1e300, false, 1.0})) << "it is asked as a number";
}

TEST(HelperLines, AQuestionIsALineOfJson) {
  auto request = suggestion_request(three_parameters(), some_progress(), 2);
  request.seed = 7;
  EXPECT_EQ(question_line(request),
            R"({"count":2,"goal":"maximize","optuna":"5.0.0","parameters":[)"
            R"({"high":1.0,"kind":"number","low":0.1},{"count":4,"kind":"integer"},)"
            R"({"count":3,"kind":"choice"}],"seed":7,"trials":[)"
            R"({"intervals":1,"objective":0.25,"state":"complete","values":[0.5,0.0,0.0]},)"
            R"({"intervals":1,"objective":0.125,"state":"stopped","values":[0.25,3.0,1.0]},)"
            R"({"state":"running","values":[1.0,1.0,2.0]}]})");
}

TEST(HelperLines, AnAnswerIsTrials) {
  const SweepSpec sweep = three_parameters();
  const auto request = suggestion_request(sweep, some_progress(), 2);
  const auto read =
      read_answer(sweep, request, R"({"optuna":"5.0.0","suggestions":[[0.5,0,2],[0.125,3,0]]})");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->first_trial, 6u);
  EXPECT_EQ(read->optuna, "5.0.0");
  EXPECT_THAT(read->trials, ElementsAre(parameters_of(0.5, 16, text_value("poly")),
                                        parameters_of(0.125, 64, text_value("rbf"))));
}

TEST(HelperLines, ErrorsOfTheHelperArePassedOn) {
  const SweepSpec sweep = three_parameters();
  const auto request = suggestion_request(sweep, {}, 1);
  const auto error_of = [&](const std::string& line) {
    const auto read = read_answer(sweep, request, line);
    EXPECT_FALSE(read) << line;
    return read ? Error{} : read.error();
  };
  const Error missing = error_of(R"({"error":"Optuna cannot be imported","again":false})");
  EXPECT_EQ(missing.code, ErrorCode::unsupported);
  EXPECT_EQ(missing.message, "bayesian sampling: Optuna cannot be imported");
  EXPECT_EQ(error_of(R"({"error":"x","again":true})").code, ErrorCode::unavailable);
  EXPECT_EQ(error_of(R"({"error":"x"})").code, ErrorCode::unavailable);
  EXPECT_EQ(error_of("{\"error\":\"a\\nb\\u001b[31m\"}").message, "bayesian sampling: a b?[31m");
}

TEST(HelperLines, WhatIsNoAnswerIsRefused) {
  const SweepSpec sweep = three_parameters();
  const auto request = suggestion_request(sweep, {}, 1);
  for (const std::string line :
       {"", "no JSON", "[]", "{}", R"({"suggestions":[]})", R"({"suggestions":[[0.5,0,0]]})",
        R"({"optuna":"5","suggestions":[[0.5,0,0],[0.5,0,0]]})",
        R"({"optuna":"5","suggestions":[3]})", R"({"optuna":"5","suggestions":[["a",0,0]]})",
        R"({"optuna":"5","suggestions":[[0.5,0]]})", R"({"optuna":"5","suggestions":[[9,0,0]]})",
        R"({"optuna":5,"suggestions":[[0.5,0,0]]})"}) {
    const auto read = read_answer(sweep, request, line);
    ASSERT_FALSE(read) << line;
    EXPECT_EQ(read.error().code, ErrorCode::corrupt) << line;
  }
  EXPECT_FALSE(read_answer(sweep, request, std::string(kMaxHelperLine + 1, ' ')));
}

}  // namespace
}  // namespace lockstep::sweeps
