#pragma once
// A sweep: a job whose trials are jobs that differ in the values of named parameters. What a trial
// runs, the sweep's own JobSpec has: its command and its variables still hold
// ${{search_space.NAME}}, and its `timeout` is that of each trial. SweepSpec says which values
// there are, how they are chosen, and when a trial or the sweep is over. Names and meanings are
// those of Azure ML's sweep jobs (docs/decisions/092-sweeps.md). Plain values: launcher/spec reads
// them, launcher/sweeps decides by them.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/domain/sweep_value.h"

namespace lockstep {

// ---- the search space --------------------------------------------------------------------------

struct SearchParameter;

// One of the values of a choice. An object has keys of its own, whose values may be drawn too.
struct ChoiceOption {
  SweepValue value;                     // unless it is an object
  std::vector<SearchParameter> object;  // its keys; empty: it is `value`
  friend bool operator==(const ChoiceOption& a, const ChoiceOption& b);
};

struct Choice {
  std::vector<ChoiceOption> options;
  friend bool operator==(const Choice&, const Choice&) = default;
};

struct RandomInteger {     // randint
  std::int64_t upper = 1;  // 0 to upper - 1
  friend bool operator==(const RandomInteger&, const RandomInteger&) = default;
};

// uniform, quniform, loguniform, qloguniform
struct UniformRange {
  double min = 0, max = 1;  // of a logarithmic one these are exponents: base^min to base^max
  bool is_log = false;
  std::optional<double> q = std::nullopt;
  friend bool operator==(const UniformRange&, const UniformRange&) = default;
};

// normal, qnormal, lognormal, qlognormal
struct NormalRange {
  double mu = 0, sigma = 1;  // of a logarithmic one these are of the exponent
  bool is_log = false;
  std::optional<double> q = std::nullopt;
  friend bool operator==(const NormalRange&, const NormalRange&) = default;
};

// A SweepValue is a constant; only objects have such keys.
using SearchExpression = std::variant<Choice, RandomInteger, UniformRange, NormalRange, SweepValue>;
// "choice", "qloguniform", "constant".
std::string_view type_word(const SearchExpression& expression);

struct SearchParameter {
  std::string name;
  SearchExpression expression;
  friend bool operator==(const SearchParameter&, const SearchParameter&) = default;
};
using SearchSpace = std::vector<SearchParameter>;  // in the order of the file

const SearchParameter* find_parameter(const SearchSpace& space, std::string_view name);

// ---- how values are chosen ---------------------------------------------------------------------

struct RandomSampling {
  enum class Rule { random, sobol };
  Rule rule = Rule::random;
  std::optional<std::int64_t> seed = std::nullopt;  // absent: it follows from the job's name
  double log_base = 2.718281828459045;              // of logarithmic expressions
  friend bool operator==(const RandomSampling&, const RandomSampling&) = default;
};
struct GridSampling {
  friend bool operator==(const GridSampling&, const GridSampling&) = default;
};
struct BayesianSampling {
  // The version of Optuna that suggests; "": that of the launcher's helper at the first suggestion.
  std::string optuna = {};
  friend bool operator==(const BayesianSampling&, const BayesianSampling&) = default;
};
using SamplingAlgorithm = std::variant<RandomSampling, GridSampling, BayesianSampling>;
std::string_view type_word(const SamplingAlgorithm& sampling);  // "random", "grid", "bayesian"
double log_base_of(const SamplingAlgorithm& sampling);

// ---- what is sought, and what ends a trial early ------------------------------------------------

enum class Goal { minimize, maximize };
std::string_view to_string(Goal goal);

struct Objective {
  Goal goal = Goal::minimize;
  std::string metric;  // primary_metric: the name under which trials log it
  friend bool operator==(const Objective&, const Objective&) = default;
};

struct BanditPolicy {
  enum class Slack { factor, amount };
  Slack kind = Slack::factor;
  double slack = 0;
  friend bool operator==(const BanditPolicy&, const BanditPolicy&) = default;
};
struct MedianStoppingPolicy {
  friend bool operator==(const MedianStoppingPolicy&, const MedianStoppingPolicy&) = default;
};
struct TruncationPolicy {
  int percentage = 0;
  friend bool operator==(const TruncationPolicy&, const TruncationPolicy&) = default;
};
using TerminationPolicy = std::variant<BanditPolicy, MedianStoppingPolicy, TruncationPolicy>;
std::string_view type_word(const TerminationPolicy& policy);  // "truncation_selection"

// Each value of the primary metric that a trial logs is one interval.
struct EarlyTermination {
  TerminationPolicy policy;
  int interval = 1;  // evaluation_interval: the policy applies at each multiple of it,
  int delay = 0;     // delay_evaluation: from this interval on
  friend bool operator==(const EarlyTermination&, const EarlyTermination&) = default;
};

// ---- the whole ---------------------------------------------------------------------------------

inline constexpr int kMaxSweepTrials = 1'000;                         // as on Azure
inline constexpr Duration kDefaultSweepTimeout = seconds(5'184'000);  // as on Azure, 60 days
inline constexpr std::size_t kMaxSearchParameters = 1'000;            // also those in objects
inline constexpr std::size_t kMaxChoiceOptions = 10'000;              // of all choices together
inline constexpr int kMaxSearchDepth = 16;                            // of objects in each other
inline constexpr std::size_t kMaxSweepValueBytes = 1u << 14;          // of one option
inline constexpr std::size_t kMaxMetricNameBytes = 250;               // as in MLflow
inline constexpr double kMaxExponent = 700;                           // e^700 is a double
inline constexpr std::int64_t kMaxRandomInteger = std::int64_t{1} << 53;  // exact in any language

struct SweepLimits {
  int max_total_trials = kMaxSweepTrials;
  int max_concurrent_trials = 0;  // 0: all of them
  Duration timeout = kDefaultSweepTimeout;
  int at_once() const {
    return max_concurrent_trials > 0 ? max_concurrent_trials : max_total_trials;
  }
  friend bool operator==(const SweepLimits&, const SweepLimits&) = default;
};

struct SweepSpec {
  SearchSpace space;
  SamplingAlgorithm sampling;
  Objective objective;
  std::optional<EarlyTermination> early_termination = std::nullopt;
  SweepLimits limits = {};
  friend bool operator==(const SweepSpec&, const SweepSpec&) = default;
};

// Good, or what is wrong with one expression; the message begins with the key: "min_value: …".
// Options of a choice are not looked into.
Status check_expression(const SearchExpression& expression, double log_base);
// Whether this algorithm can draw this expression. The message says what it takes instead.
Status check_sampling(const SearchExpression& expression, const SamplingAlgorithm& sampling);
Status check_policy(const TerminationPolicy& policy);

// All of it. Errors begin with the field: "search_space.lr.min_value: …".
Status validate(const SweepSpec& sweep);

// The sweep of a job, which all copies of its spec share; empty: the job is no sweep.
class SharedSweep {
 public:
  SharedSweep() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): used like an optional
  SharedSweep(SweepSpec sweep);
  explicit operator bool() const { return sweep_ != nullptr; }
  const SweepSpec& operator*() const { return *sweep_; }
  const SweepSpec* operator->() const { return sweep_.get(); }
  friend bool operator==(const SharedSweep& a, const SharedSweep& b);

 private:
  std::shared_ptr<const SweepSpec> sweep_;
};

}  // namespace lockstep
