#include "common/wire/sweep_codec.h"

#include <utility>

namespace lockstep::pb {
namespace {

using ValueKind = lockstep::SweepValue::Kind;

// On the wire and in journals, for ever.
int number_of_kind(ValueKind kind) {
  switch (kind) {
    case ValueKind::text: return 1;
    case ValueKind::integer: return 2;
    case ValueKind::number: return 3;
    case ValueKind::boolean: return 4;
    case ValueKind::object: return 5;
  }
  return 0;
}

Status read_kind(int number, ValueKind* to) {
  for (const ValueKind kind : {ValueKind::text, ValueKind::integer, ValueKind::number,
                               ValueKind::boolean, ValueKind::object}) {
    if (number_of_kind(kind) != number) continue;
    *to = kind;
    return {};
  }
  return bad_field("sweep.value.kind", "is none that this version knows");
}

void write_value(const lockstep::SweepValue& from, SweepValue* to) {
  to->set_kind(number_of_kind(from.kind));
  to->set_text(from.text);
}
Status read_value(const SweepValue& from, lockstep::SweepValue* to) {
  TRY(read_kind(from.kind(), &to->kind));
  return read_text(from.text(), "sweep.value", &to->text);
}

void write_space(const lockstep::SearchSpace& from,
                 google::protobuf::RepeatedPtrField<SearchParameter>* to);
Status read_space(const google::protobuf::RepeatedPtrField<SearchParameter>& from,
                  lockstep::SearchSpace* to);

// ---- expressions -------------------------------------------------------------------------------

struct ExpressionWriter {
  SearchParameter* to;

  void operator()(const lockstep::Choice& from) const {
    for (const lockstep::ChoiceOption& option : from.options) {
      ChoiceOption* written = to->mutable_choice()->add_options();
      write_value(option.value, written->mutable_value());
      write_space(option.object, written->mutable_object());
    }
    if (from.options.empty()) to->mutable_choice();
  }
  void operator()(const lockstep::RandomInteger& from) const { to->set_randint_upper(from.upper); }
  void operator()(const lockstep::UniformRange& from) const {
    UniformRange* range = to->mutable_uniform();
    range->set_min(from.min);
    range->set_max(from.max);
    range->set_is_log(from.is_log);
    if (from.q) range->set_q(*from.q);
  }
  void operator()(const lockstep::NormalRange& from) const {
    NormalRange* range = to->mutable_normal();
    range->set_mu(from.mu);
    range->set_sigma(from.sigma);
    range->set_is_log(from.is_log);
    if (from.q) range->set_q(*from.q);
  }
  void operator()(const lockstep::SweepValue& from) const {
    write_value(from, to->mutable_constant());
  }
};

Status read_choice(const Choice& from, lockstep::Choice* to) {
  TRY(check_count(from.options_size(), kMaxChoiceOptions, "sweep.values"));
  to->options.reserve(static_cast<std::size_t>(from.options_size()));
  for (const ChoiceOption& option : from.options()) {
    lockstep::ChoiceOption& read = to->options.emplace_back();
    TRY(read_value(option.value(), &read.value));
    TRY(read_space(option.object(), &read.object));
  }
  return {};
}

template <typename Wire>
std::optional<double> q_of(const Wire& from) {
  return from.has_q() ? std::optional<double>(from.q()) : std::nullopt;
}

Status read_expression(const SearchParameter& from, lockstep::SearchExpression* to) {
  switch (from.expression_case()) {
    case SearchParameter::kChoice:
      return read_choice(from.choice(), &to->emplace<lockstep::Choice>());
    case SearchParameter::kRandintUpper:
      to->emplace<lockstep::RandomInteger>().upper = from.randint_upper();
      return {};
    case SearchParameter::kUniform: {
      const UniformRange& range = from.uniform();
      *to = lockstep::UniformRange{range.min(), range.max(), range.is_log(), q_of(range)};
      return {};
    }
    case SearchParameter::kNormal: {
      const NormalRange& range = from.normal();
      *to = lockstep::NormalRange{range.mu(), range.sigma(), range.is_log(), q_of(range)};
      return {};
    }
    case SearchParameter::kConstant:
      return read_value(from.constant(), &to->emplace<lockstep::SweepValue>());
    case SearchParameter::EXPRESSION_NOT_SET: break;
  }
  return bad_field("sweep.expression", "is missing");
}

void write_space(const lockstep::SearchSpace& from,
                 google::protobuf::RepeatedPtrField<SearchParameter>* to) {
  for (const lockstep::SearchParameter& parameter : from) {
    SearchParameter* written = to->Add();
    written->set_name(parameter.name);
    std::visit(ExpressionWriter{written}, parameter.expression);
  }
}

// Messages in each other are no deeper than protobuf reads.
Status read_space(const google::protobuf::RepeatedPtrField<SearchParameter>& from,
                  lockstep::SearchSpace* to) {
  TRY(check_count(from.size(), kMaxSearchParameters, "sweep.space"));
  to->reserve(static_cast<std::size_t>(from.size()));
  for (const SearchParameter& parameter : from) {
    lockstep::SearchParameter& read = to->emplace_back();
    TRY(read_text(parameter.name(), "sweep.name", &read.name));
    TRY(read_expression(parameter, &read.expression));
  }
  return {};
}

// ---- the other parts ---------------------------------------------------------------------------

struct SamplingWriter {
  SweepSpec* to;

  void operator()(const lockstep::RandomSampling& from) const {
    RandomSampling* random = to->mutable_random();
    random->set_is_sobol(from.rule == lockstep::RandomSampling::Rule::sobol);
    if (from.seed) random->set_seed(*from.seed);
    random->set_log_base(from.log_base);
  }
  void operator()(const lockstep::GridSampling&) const { to->mutable_grid(); }
  void operator()(const lockstep::BayesianSampling& from) const {
    to->mutable_bayesian()->set_optuna(from.optuna);
  }
};

Status read_sampling(const SweepSpec& from, lockstep::SamplingAlgorithm* to) {
  switch (from.sampling_case()) {
    case SweepSpec::kRandom: {
      auto& random = to->emplace<lockstep::RandomSampling>();
      using Rule = lockstep::RandomSampling::Rule;
      random.rule = from.random().is_sobol() ? Rule::sobol : Rule::random;
      if (from.random().has_seed()) random.seed = from.random().seed();
      random.log_base = from.random().log_base();
      return {};
    }
    case SweepSpec::kGrid: to->emplace<lockstep::GridSampling>(); return {};
    case SweepSpec::kBayesian:
      return read_text(from.bayesian().optuna(), "sweep.optuna",
                       &to->emplace<lockstep::BayesianSampling>().optuna);
    case SweepSpec::SAMPLING_NOT_SET: break;
  }
  return bad_field("sweep.sampling", "is missing");
}

struct PolicyWriter {
  EarlyTermination* to;

  void operator()(const lockstep::BanditPolicy& from) const {
    if (from.kind == lockstep::BanditPolicy::Slack::factor)
      to->set_slack_factor(from.slack);
    else
      to->set_slack_amount(from.slack);
  }
  void operator()(const lockstep::MedianStoppingPolicy&) const { to->mutable_median(); }
  void operator()(const lockstep::TruncationPolicy& from) const {
    to->set_truncation_percentage(from.percentage);
  }
};

Status read_policy(const EarlyTermination& from, lockstep::TerminationPolicy* to) {
  using Slack = lockstep::BanditPolicy::Slack;
  switch (from.policy_case()) {
    case EarlyTermination::kSlackFactor:
      *to = lockstep::BanditPolicy{Slack::factor, from.slack_factor()};
      return {};
    case EarlyTermination::kSlackAmount:
      *to = lockstep::BanditPolicy{Slack::amount, from.slack_amount()};
      return {};
    case EarlyTermination::kMedian: to->emplace<lockstep::MedianStoppingPolicy>(); return {};
    case EarlyTermination::kTruncationPercentage:
      *to = lockstep::TruncationPolicy{from.truncation_percentage()};
      return {};
    case EarlyTermination::POLICY_NOT_SET: break;
  }
  return bad_field("sweep.policy", "is missing");
}

Status read_goal(int number, lockstep::Goal* to) {
  if (number != 1 && number != 2) return bad_field("sweep.goal", "is neither of the two");
  *to = number == 1 ? lockstep::Goal::minimize : lockstep::Goal::maximize;
  return {};
}

constexpr int kMostIntervals = 1'000'000'000;

}  // namespace

void to_wire(const lockstep::SweepSpec& from, SweepSpec* to) {
  write_space(from.space, to->mutable_space());
  std::visit(SamplingWriter{to}, from.sampling);
  to->set_goal(from.objective.goal == lockstep::Goal::minimize ? 1 : 2);
  to->set_metric(from.objective.metric);
  if (from.early_termination) {
    EarlyTermination* early = to->mutable_early_termination();
    early->set_interval(from.early_termination->interval);
    early->set_delay(from.early_termination->delay);
    std::visit(PolicyWriter{early}, from.early_termination->policy);
  }
  to->set_max_total_trials(from.limits.max_total_trials);
  to->set_max_concurrent_trials(from.limits.max_concurrent_trials);
  to->set_timeout_ns(from.limits.timeout.count());
}

Status from_wire(const SweepSpec& from, lockstep::SharedSweep* to) {
  lockstep::SweepSpec sweep;
  TRY(read_space(from.space(), &sweep.space));
  TRY(read_sampling(from, &sweep.sampling));
  TRY(read_goal(from.goal(), &sweep.objective.goal));
  TRY(read_text(from.metric(), "sweep.metric", &sweep.objective.metric));
  if (from.has_early_termination()) {
    lockstep::EarlyTermination& early = sweep.early_termination.emplace();
    const EarlyTermination& sent = from.early_termination();
    TRY(read_number(sent.interval(), 0, kMostIntervals, "sweep.interval", &early.interval));
    TRY(read_number(sent.delay(), 0, kMostIntervals, "sweep.delay", &early.delay));
    TRY(read_policy(sent, &early.policy));
  }
  lockstep::SweepLimits& limits = sweep.limits;
  TRY(read_number(from.max_total_trials(), 0, 1'000'000, "sweep.max_total_trials",
                  &limits.max_total_trials));
  TRY(read_number(from.max_concurrent_trials(), 0, 1'000'000, "sweep.max_concurrent_trials",
                  &limits.max_concurrent_trials));
  TRY(read_duration(from.timeout_ns(), "sweep.timeout", &limits.timeout));
  *to = std::move(sweep);
  return {};
}

void to_wire(const lockstep::TrialParameters& from, TrialParameters* to) {
  for (const lockstep::TrialParameter& parameter : from) {
    TrialParameter* written = to->add_parameters();
    written->set_name(parameter.name);
    write_value(parameter.value, written->mutable_value());
  }
}

Status from_wire(const TrialParameters& from, lockstep::TrialParameters* to) {
  TRY(check_count(from.parameters_size(), kMaxSearchParameters, "trial.parameters"));
  for (const TrialParameter& parameter : from.parameters()) {
    lockstep::TrialParameter& read = to->emplace_back();
    TRY(read_text(parameter.name(), "trial.name", &read.name));
    TRY(read_kind(parameter.value().kind(), &read.value.kind));
    // An object has the texts of all its keys.
    TRY(read_text(parameter.value().text(), "trial.value", &read.value.text, 1u << 20));
  }
  return {};
}

}  // namespace lockstep::pb
