// Sweeps as values: how numbers are written, and what a sweep may not be.

#include "common/domain/sweep.h"

#include <gmock/gmock.h>

#include <limits>

#include "common/domain/job_spec.h"

namespace lockstep {
namespace {

using testing::HasSubstr;

TEST(SweepValues, NumbersAreWrittenAsPythonDoes) {
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(3), "3.0");
  EXPECT_EQ(number_text(1e-5), "1e-05");
  EXPECT_EQ(number_text(0.0001), "0.0001");
  EXPECT_EQ(number_text(1e15), "1000000000000000.0");
  EXPECT_EQ(number_text(1e16), "1e+16");
  EXPECT_EQ(number_text(-2.5e-300), "-2.5e-300");
  EXPECT_EQ(number_text(0.1 + 0.2), "0.30000000000000004");
}

TEST(SweepValues, StepsAreRoundedHalfToEvenAndShort) {
  EXPECT_EQ(quantized(0.25, 0.5), 0);
  EXPECT_EQ(quantized(0.75, 0.5), 1);
  EXPECT_EQ(quantized(0.31, 0.1), 0.3);
  EXPECT_EQ(quantized(-0.01, 0.1), 0);
  EXPECT_EQ(quantized_value(7.4, 2), integer_value(8));
  EXPECT_EQ(quantized_value(7.4, 0.5), number_value(7.5));
  EXPECT_EQ(quantized_value(1e300, 1).kind, SweepValue::Kind::number);
}

SweepSpec good_sweep() {
  SweepSpec sweep;
  sweep.space = {{"lr", UniformRange{0, 1, false, std::nullopt}}};
  sweep.sampling = RandomSampling{};
  sweep.objective = {Goal::minimize, "loss"};
  sweep.early_termination = EarlyTermination{MedianStoppingPolicy{}, 1, 0};
  return sweep;
}

std::string fault_of(const SweepSpec& sweep) {
  const Status good = validate(sweep);
  return good ? "" : good.error().message;
}

TEST(Sweep, AGoodOneIsGood) { EXPECT_EQ(fault_of(good_sweep()), ""); }

TEST(Sweep, WhatIsWrongIsNamed) {
  const auto with = [](const auto& change) {
    SweepSpec sweep = good_sweep();
    change(sweep);
    return fault_of(sweep);
  };
  EXPECT_THAT(with([](SweepSpec& s) { s.space.clear(); }), HasSubstr("search_space: is empty"));
  EXPECT_THAT(with([](SweepSpec& s) { s.space.push_back(s.space[0]); }),
              HasSubstr("search_space.lr: is named twice"));
  EXPECT_THAT(with([](SweepSpec& s) { s.space[0].name = "a b"; }), HasSubstr("is not a name"));
  EXPECT_THAT(with([](SweepSpec& s) { s.space[0].expression = integer_value(3); }),
              HasSubstr("search_space.lr: is a constant"));
  EXPECT_THAT(with([](SweepSpec& s) {
                s.space[0].expression =
                    UniformRange{std::numeric_limits<double>::quiet_NaN(), 1, false, std::nullopt};
              }),
              HasSubstr("search_space.lr.min_value: is not a finite number"));
  EXPECT_THAT(with([](SweepSpec& s) {
                s.space[0].expression = UniformRange{-1e308, 1e308, false, std::nullopt};
              }),
              HasSubstr("search_space.lr.max_value: the range is wider"));
  EXPECT_THAT(with([](SweepSpec& s) {
                s.space[0].expression = NormalRange{0, 100, true, std::nullopt};
              }),
              HasSubstr("search_space.lr.sigma: 100 is too large"));
  EXPECT_THAT(with([](SweepSpec& s) { std::get<RandomSampling>(s.sampling).log_base = 1; }),
              HasSubstr("sampling_algorithm.logbase"));
  EXPECT_THAT(with([](SweepSpec& s) { s.sampling = GridSampling{}; }),
              HasSubstr("search_space.lr: grid takes only choice"));
  EXPECT_THAT(with([](SweepSpec& s) { s.objective.metric = "a\nb"; }),
              HasSubstr("objective.primary_metric"));
  EXPECT_THAT(with([](SweepSpec& s) { s.objective.metric.clear(); }),
              HasSubstr("objective.primary_metric: is empty"));
  EXPECT_THAT(with([](SweepSpec& s) { s.limits.max_total_trials = 1'001; }),
              HasSubstr("limits.max_total_trials: is 1001"));
  EXPECT_THAT(with([](SweepSpec& s) { s.limits.timeout = seconds(0); }),
              HasSubstr("limits.timeout"));
  EXPECT_THAT(with([](SweepSpec& s) { s.early_termination->interval = 0; }),
              HasSubstr("early_termination.evaluation_interval"));
  EXPECT_THAT(with([](SweepSpec& s) { s.early_termination->policy = TruncationPolicy{0}; }),
              HasSubstr("early_termination.truncation_percentage: is 0"));
}

TEST(Sweep, SpacesAreBounded) {
  SweepSpec sweep = good_sweep();
  sweep.space.clear();
  for (std::size_t i = 0; i <= kMaxSearchParameters; ++i)
    sweep.space.push_back({"p" + std::to_string(i), RandomInteger{3}});
  EXPECT_THAT(fault_of(sweep), HasSubstr("there are more than 1000 parameters"));
  sweep.space = {{"x", RandomInteger{3}}};
  for (int i = 0; i <= kMaxSearchDepth; ++i) {
    Choice choice;
    choice.options.push_back({{}, std::move(sweep.space)});
    sweep.space = {{"x", std::move(choice)}};
  }
  EXPECT_THAT(fault_of(sweep), HasSubstr("nested more than 16 deep"));
  Choice wide;
  for (std::size_t i = 0; i <= kMaxChoiceOptions; ++i)
    wide.options.push_back({integer_value(1), {}});
  sweep.space = {{"x", std::move(wide)}};
  EXPECT_THAT(fault_of(sweep), HasSubstr("there are more than 10000 values"));
}

TEST(Sweep, OfAJobIsCheckedWithIt) {
  JobSpec job;
  job.command = ShellCommand{"x"};
  job.sweep = good_sweep();
  EXPECT_TRUE(validate(job));
  SweepSpec wrong = good_sweep();
  wrong.limits.max_concurrent_trials = -1;
  job.sweep = wrong;
  const Status refused = validate(job);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("limits.max_concurrent_trials: is -1"));
  job.sweep = good_sweep();
  job.terminal = TerminalKind::pty;
  EXPECT_FALSE(validate(job));
}

TEST(Sweep, CopiesShareOneAndEqualOnesAreEqual) {
  const SharedSweep one = good_sweep(), same = good_sweep();
  SharedSweep other = one;
  EXPECT_TRUE(one == same);
  EXPECT_TRUE(one == other);
  other = {};
  EXPECT_FALSE(one == other);
  EXPECT_FALSE(other);
}

}  // namespace
}  // namespace lockstep
