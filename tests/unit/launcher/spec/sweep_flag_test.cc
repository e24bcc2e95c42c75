// Parameters of a sweep from the command line.

#include "launcher/spec/sweep_flag.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lockstep::spec {
namespace {

SearchExpression expression_of_flag(const std::string& text) {
  auto parameter = parse_sweep_flag(text);
  if (!parameter) {
    ADD_FAILURE() << parameter.error().message;
    return {};
  }
  return parameter->expression;
}

TEST(SweepFlag, HasEachKindOfValues) {
  EXPECT_EQ(parse_sweep_flag("n=randint:10").value(), (SearchParameter{"n", RandomInteger{10}}));
  EXPECT_EQ(expression_of_flag("x=uniform:0:1"), SearchExpression(UniformRange{0, 1, false, {}}));
  EXPECT_EQ(expression_of_flag("x=quniform:1:9:2"),
            SearchExpression(UniformRange{1, 9, false, 2.0}));
  EXPECT_EQ(expression_of_flag("x=normal:0:1.5"), SearchExpression(NormalRange{0, 1.5, false, {}}));
  EXPECT_EQ(expression_of_flag("x=qlognormal:0:1:1"),
            SearchExpression(NormalRange{0, 1, true, 1.0}));
  const auto choice = std::get<Choice>(expression_of_flag("x=choice:16,0.5,rbf,a:b"));
  ASSERT_EQ(choice.options.size(), 4u);
  EXPECT_EQ(choice.options[0].value, (SweepValue{SweepValue::Kind::integer, "16"}));
  EXPECT_EQ(choice.options[3].value, (SweepValue{SweepValue::Kind::text, "a:b"}));
}

// People type the values, not their logarithms.
TEST(SweepFlag, BoundsOfALogarithmicRangeAreTheValues) {
  const auto range = std::get<UniformRange>(expression_of_flag("lr=loguniform:1e-5:1e-1"));
  EXPECT_TRUE(range.is_log);
  EXPECT_NEAR(std::exp(range.min), 1e-5, 1e-18);
  EXPECT_NEAR(std::exp(range.max), 1e-1, 1e-14);
}

TEST(SweepFlag, WhatIsWrongIsSaid) {
  const std::pair<const char*, const char*> cases[] = {
      {"uniform:0:1", "'uniform:0:1' has no name; write NAME=uniform:MIN:MAX"},
      {"l-r=uniform:0:1",
       "'l-r=uniform:0:1' has a name with other characters than letters, digits and '_', or one "
       "that begins with a digit"},
      {"lr=unifrom:0:1", "'lr=unifrom:0:1' has an unknown word; did you mean 'uniform'?"},
      {"lr=",
       "'lr=' names no kind of values; these are choice, randint, uniform, quniform, "
       "loguniform, qloguniform, normal, qnormal, lognormal, qlognormal"},
      {"lr=uniform:0", "'lr=uniform:0' is not of the form NAME=uniform:MIN:MAX"},
      {"lr=uniform:0:1:2", "'lr=uniform:0:1:2' is not of the form NAME=uniform:MIN:MAX"},
      {"lr=uniform:a:b", "'lr=uniform:a:b' is not of the form NAME=uniform:MIN:MAX"},
      {"n=randint:1.5", "'n=randint:1.5' is not of the form NAME=randint:UPPER"},
      {"x=choice:", "'x=choice:' is not of the form NAME=choice:A,B,C"},
      {"lr=loguniform:0:1",
       "'lr=loguniform:0:1' has a bound that is not above 0; the values of a logarithmic range "
       "are"},
      {"lr=uniform:1:0",
       "'lr=uniform:1:0' is wrong: min_value: 1 is more than max_value 0; swap them"},
  };
  for (const auto& [text, message] : cases) {
    const auto parameter = parse_sweep_flag(text);
    ASSERT_FALSE(parameter) << text;
    EXPECT_EQ(parameter.error().message, message);
  }
}

}  // namespace
}  // namespace lockstep::spec
