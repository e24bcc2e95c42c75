// What is drawn has the distributions that Azure's documents name, by tests of statistics with
// fixed seeds: they would fail once in some thousands of seeds, and these seeds do not change.

#include "launcher/sweeps/draw.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "launcher/sweeps/normal_quantile.h"
#include "launcher/sweeps/sampler.h"
#include "launcher/sweeps/unit_draw.h"
#include "tests/unit/launcher/sweeps/spaces.h"

namespace lockstep::sweeps {
namespace {

using testing::HasSubstr;

constexpr std::size_t kMany = 20'000;
constexpr std::uint64_t kSeed = 20'261'123;

// The texts of the first parameter of many trials.
std::vector<std::string> drawn_texts(const SearchExpression& expression, double log_base = 0) {
  SweepSpec sweep = sweep_over({{"x", expression}});
  if (log_base > 0) std::get<RandomSampling>(sweep.sampling).log_base = log_base;
  EXPECT_TRUE(validate(sweep));
  std::vector<std::string> texts;
  for (std::size_t trial = 0; trial < kMany; ++trial)
    texts.push_back(sample(sweep, kSeed, trial).at(0).value.text);
  return texts;
}

std::vector<double> drawn(const SearchExpression& expression, double log_base = 0) {
  std::vector<double> values;
  for (const std::string& text : drawn_texts(expression, log_base))
    values.push_back(std::stod(text));
  return values;
}

// Kolmogorov and Smirnov's distance, in units in which 2.2 is exceeded once in 8,000 times.
double distance(std::vector<double> values, const std::function<double(double)>& below) {
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  double farthest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double expected = below(values[i]);
    farthest = std::max({farthest, std::abs(expected - static_cast<double>(i) / count),
                         std::abs(expected - static_cast<double>(i + 1) / count)});
  }
  return farthest * std::sqrt(count);
}

// Pearson's chi-square of how often each text came.
double chi_square(const std::vector<std::string>& texts,
                  const std::map<std::string, double>& chances) {
  std::map<std::string, double> counts;
  for (const std::string& text : texts) counts[text] += 1;
  double sum = 0;
  for (const auto& [text, chance] : chances) {
    const double expected = chance * static_cast<double>(texts.size());
    sum += (counts[text] - expected) * (counts[text] - expected) / expected;
  }
  for (const auto& [text, count] : counts) EXPECT_EQ(chances.count(text), 1u) << text;
  return sum;
}

double normal_below(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

TEST(Draw, Uniform) {
  const auto values = drawn(UniformRange{-2, 3, false, {}});
  EXPECT_LT(distance(values, [](double x) { return (x + 2) / 5; }), 2.2);
  EXPECT_GE(*std::min_element(values.begin(), values.end()), -2);
  EXPECT_LE(*std::max_element(values.begin(), values.end()), 3);
}

TEST(Draw, LogUniformBoundsAreExponents) {
  const auto values = drawn(UniformRange{-6, -1, true, {}});
  EXPECT_LT(distance(values, [](double x) { return (std::log(x) + 6) / 5; }), 2.2);
  const auto of_ten = drawn(UniformRange{-3, 0, true, {}}, 10);
  EXPECT_LT(distance(of_ten, [](double x) { return (std::log10(x) + 3) / 3; }), 2.2);
  EXPECT_GE(*std::min_element(of_ten.begin(), of_ten.end()), 0.001 * (1 - 1e-12));
}

TEST(Draw, NormalAndLogNormal) {
  const auto values = drawn(NormalRange{10, 3, false, {}});
  EXPECT_LT(distance(values, [](double x) { return normal_below((x - 10) / 3); }), 2.2);
  const auto of_log = drawn(NormalRange{-1, 0.5, true, {}});
  EXPECT_LT(distance(of_log, [](double x) { return normal_below((std::log(x) + 1) / 0.5); }), 2.2);
}

TEST(Draw, QuantizedUniformRoundsToMultiples) {
  std::map<std::string, double> chances;
  for (int i = 1; i <= 10; ++i) chances[std::to_string(i)] = i == 1 || i == 10 ? 0.5 / 9 : 1.0 / 9;
  // 9 degrees of freedom: 35 is exceeded once in 16,000 times.
  EXPECT_LT(chi_square(drawn_texts(UniformRange{1, 10, false, 1.0}), chances), 35);
  for (const std::string& text : drawn_texts(UniformRange{0, 1, false, 0.1})) {
    EXPECT_LE(text.size(), 3u) << text << " has digits of rounding";
    EXPECT_THAT(text, HasSubstr("."));
  }
}

TEST(Draw, QuantizedLogUniform) {
  // round(e^u / 2) * 2 for u in 0 to 3: 0 or 2 at least, 20 at most.
  for (const std::string& text : drawn_texts(UniformRange{0, 3, true, 2.0})) {
    const int value = std::stoi(text);
    EXPECT_EQ(std::to_string(value), text) << "an integer";
    EXPECT_EQ(value % 2, 0);
    EXPECT_GE(value, 0);
    EXPECT_LE(value, 20);
  }
}

TEST(Draw, QuantizedNormal) {
  double sum = 0;
  for (const double value : drawn(NormalRange{1, 2, false, 0.4})) {
    EXPECT_NEAR(std::nearbyint(value / 0.4) * 0.4, value, 1e-9);
    sum += value;
  }
  // Five standard errors, and a little for the rounding.
  EXPECT_NEAR(sum / kMany, 1, 5 * 2 / std::sqrt(static_cast<double>(kMany)));
  for (const double value : drawn(NormalRange{0, 1, true, 1.0}))
    EXPECT_EQ(std::floor(value), value);
}

TEST(Draw, RandomIntegersAndChoices) {
  std::map<std::string, double> chances;
  for (int i = 0; i < 7; ++i) chances[std::to_string(i)] = 1.0 / 7;
  // 6 degrees of freedom: 30 is exceeded once in 25,000 times.
  EXPECT_LT(chi_square(drawn_texts(RandomInteger{7}), chances), 30);
  EXPECT_THAT(drawn_texts(RandomInteger{1}), testing::Each("0"));
  const Choice choice = choice_of({text_value("a"), text_value("b"), text_value("c")});
  EXPECT_LT(chi_square(drawn_texts(choice), {{"a", 1.0 / 3}, {"b", 1.0 / 3}, {"c", 1.0 / 3}}), 22);
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - 0.5) * (b[i] - 0.5);
    aa += (a[i] - 0.5) * (a[i] - 0.5);
    bb += (b[i] - 0.5) * (b[i] - 0.5);
  }
  return ab / std::sqrt(aa * bb);
}

TEST(Draw, ParametersTrialsAndSeedsAreIndependent) {
  const double most = 4.5 / std::sqrt(static_cast<double>(kMany));
  std::vector<double> one, next_dimension, next_trial, next_seed;
  for (std::size_t trial = 0; trial < kMany; ++trial) {
    one.push_back(unit_draw(kSeed, trial, 0));
    next_dimension.push_back(unit_draw(kSeed, trial, 1));
    next_trial.push_back(unit_draw(kSeed, trial + 1, 0));
    next_seed.push_back(unit_draw(kSeed + 1, trial, 0));
  }
  EXPECT_LT(std::abs(correlation(one, next_dimension)), most);
  EXPECT_LT(std::abs(correlation(one, next_trial)), most);
  EXPECT_LT(std::abs(correlation(one, next_seed)), most);
}

TEST(Draw, IsNeverZeroOrOne) {
  for (std::uint64_t i = 0; i < kMany; ++i) {
    EXPECT_GT(unit_draw(i, 0, 0), 0);
    EXPECT_LT(unit_draw(i, 0, 0), 1);
  }
  const SearchSpace space = {{"x", NormalRange{0, 1, true, {}}}};
  for (const double end : {0x1p-53, 1 - 0x1p-53}) {
    const auto drawn_at = draw(space, 2.718281828459045, [&](std::size_t) { return end; });
    EXPECT_TRUE(std::isfinite(std::stod(drawn_at[0].value.text)));
  }
}

// A launcher that starts again, also one of another build, goes on with the same values.
TEST(Draw, TheSameSeedGivesTheSameValues) {
  const SweepSpec sweep =
      sweep_over({{"lr", UniformRange{0, 1, false, {}}}, {"n", RandomInteger{100}}});
  for (std::size_t trial = 0; trial < 50; ++trial)
    EXPECT_EQ(sample(sweep, 7, trial), sample(sweep, 7, trial));
  EXPECT_NE(sample(sweep, 7, 0), sample(sweep, 8, 0));
  EXPECT_NE(sample(sweep, 7, 0), sample(sweep, 7, 1));
  EXPECT_EQ(random_bits(0, 0, 0), 0x238275bc38fcbe91u);
  EXPECT_EQ(random_bits(42, 3, 1), 0xd8ee0e785f84c725u);
  EXPECT_EQ(random_bits(20'261'123, 999, 7), 0x8fb506c44ab3c39au);
}

TEST(Draw, ASeedFollowsFromTheFileOrTheName) {
  RandomSampling random;
  random.seed = 42;
  EXPECT_EQ(seed_of(random, "a"), 42u);
  EXPECT_EQ(seed_of(random, "b"), 42u);
  random.seed.reset();
  EXPECT_EQ(seed_of(random, "a"), seed_of(random, "a"));
  EXPECT_NE(seed_of(random, "a"), seed_of(random, "b"));
  EXPECT_EQ(seed_of(random, "a"), seed_of(BayesianSampling{}, "a"));
}

SearchSpace nested_space() {
  Choice kernel;
  kernel.options.push_back(
      object_option({{"kind", text_value("rbf")},
                     {"gamma", UniformRange{0, 1, false, {}}},
                     {"extra", choice_of({text_value("p"), text_value("q")})}}));
  kernel.options.push_back(object_option({{"degree", RandomInteger{5}}}));
  kernel.options.push_back({text_value("none"), {}});
  return {{"kernel", kernel}, {"lr", UniformRange{0, 1, false, {}}}};
}

TEST(Draw, ANestedChoiceIsJson) {
  const SearchSpace space = nested_space();
  EXPECT_EQ(dimensions_of(space), 5u);
  const auto at = [&](double kernel) {
    return draw(space, 2.718281828459045, [&](std::size_t dimension) {
      const double point[] = {kernel, 0.25, 0.75, 0.5, 0.125};
      return point[dimension];
    });
  };
  EXPECT_EQ(at(0.1)[0].value, (SweepValue{SweepValue::Kind::object,
                                          R"({"kind": "rbf", "gamma": 0.25, "extra": "q"})"}));
  EXPECT_EQ(at(0.5)[0].value, (SweepValue{SweepValue::Kind::object, R"({"degree": 2})"}));
  EXPECT_EQ(at(0.9)[0].value, text_value("none"));
  // A place keeps its dimension, whichever option is chosen.
  for (const double kernel : {0.1, 0.5, 0.9}) EXPECT_EQ(at(kernel)[1].value.text, "0.125");
}

TEST(NormalQuantile, IsTheInverseOfTheDistribution) {
  // By Python's statistics.NormalDist().inv_cdf.
  EXPECT_EQ(normal_quantile(0.5), 0);
  EXPECT_NEAR(normal_quantile(0.975), 1.9599639845400536, 1e-14);
  EXPECT_NEAR(normal_quantile(0.0001), -3.71901648545568, 1e-13);
  for (double p = 0.0005; p < 1; p += 0.0005)
    EXPECT_NEAR(normal_below(normal_quantile(p)), p, 1e-14);
  EXPECT_NEAR(normal_quantile(1e-15), -7.941345326170998, 1e-9);
}

}  // namespace
}  // namespace lockstep::sweeps
