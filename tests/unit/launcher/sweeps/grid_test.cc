// Grids: each combination once, in the order of nested loops.

#include "launcher/sweeps/grid.h"

#include <gmock/gmock.h>

#include <set>

#include "launcher/sweeps/json_text.h"
#include "launcher/sweeps/sampler.h"
#include "tests/unit/launcher/sweeps/spaces.h"

namespace lockstep::sweeps {
namespace {

using testing::ElementsAre;

std::vector<std::string> all_combinations(const SearchSpace& space) {
  std::vector<std::string> all;
  for (std::uint64_t i = 0; i < combinations_of(space); ++i)
    all.push_back(json_of(combination(space, i)));
  return all;
}

// Azure's example of a space with six samples.
TEST(Grid, TheLastParameterChangesFirst) {
  const SearchSpace space = {
      {"batch_size", choice_of({integer_value(16), integer_value(32)})},
      {"layers", choice_of({integer_value(1), integer_value(2), integer_value(3)})}};
  EXPECT_THAT(
      all_combinations(space),
      ElementsAre(R"({"batch_size": 16, "layers": 1})", R"({"batch_size": 16, "layers": 2})",
                  R"({"batch_size": 16, "layers": 3})", R"({"batch_size": 32, "layers": 1})",
                  R"({"batch_size": 32, "layers": 2})", R"({"batch_size": 32, "layers": 3})"));
}

TEST(Grid, GoesThroughNestedChoices) {
  Choice kernel;
  kernel.options.push_back(object_option(
      {{"kind", text_value("poly")}, {"degree", choice_of({integer_value(2), integer_value(3)})}}));
  kernel.options.push_back({text_value("linear"), {}});
  const SearchSpace space = {{"kernel", kernel},
                             {"c", choice_of({text_value("a"), text_value("b")})}};
  EXPECT_EQ(combinations_of(space), 6u);
  const auto all = all_combinations(space);
  EXPECT_THAT(
      all, ElementsAre(R"({"kernel": {"kind": "poly", "degree": 2}, "c": "a"})",
                       R"({"kernel": {"kind": "poly", "degree": 2}, "c": "b"})",
                       R"({"kernel": {"kind": "poly", "degree": 3}, "c": "a"})",
                       R"({"kernel": {"kind": "poly", "degree": 3}, "c": "b"})",
                       R"({"kernel": "linear", "c": "a"})", R"({"kernel": "linear", "c": "b"})"));
}

TEST(Grid, HugeOnesAreCountedAsMany) {
  std::vector<SweepValue> values(1'000, integer_value(1));
  SearchSpace space;
  for (int i = 0; i < 10; ++i) space.push_back({"p" + std::to_string(i), choice_of(values)});
  EXPECT_EQ(combinations_of(space), kManyCombinations);
  EXPECT_EQ(combination(space, 999).back().value.text, "1");
}

TEST(Grid, EndsASweepBeforeItsLimit) {
  SweepSpec sweep = sweep_over({{"a", choice_of({text_value("x"), text_value("y")})}}, 100);
  sweep.sampling = GridSampling{};
  EXPECT_EQ(trials_in_all(sweep), 2u);
  sweep.limits.max_total_trials = 1;
  EXPECT_EQ(trials_in_all(sweep), 1u);
  EXPECT_EQ(sample(sweep, 0, 0).at(0).value, text_value("x"));
}

TEST(JsonText, ValuesKeepTheirTypes) {
  EXPECT_EQ(json_of(integer_value(-3)), "-3");
  EXPECT_EQ(json_of(number_value(0.1)), "0.1");
  EXPECT_EQ(json_of(number_value(1e-5)), "1e-05");
  EXPECT_EQ(json_of(number_value(3)), "3.0");
  EXPECT_EQ(json_of(SweepValue{SweepValue::Kind::boolean, "True"}), "true");
  EXPECT_EQ(json_of(text_value("a\"b\n")), R"("a\"b\n")");
  EXPECT_EQ(json_of(TrialParameters{}), "{}");
}

}  // namespace
}  // namespace lockstep::sweeps
