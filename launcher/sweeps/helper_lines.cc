#include "launcher/sweeps/helper_lines.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "common/base/printable.h"
#include "common/base/utf8.h"

namespace lockstep::sweeps {
namespace {

using HelperJson = nlohmann::json;

std::string_view word_of_kind(HelperParameter::Kind kind) {
  switch (kind) {
    case HelperParameter::Kind::number: return "number";
    case HelperParameter::Kind::integer: return "integer";
    case HelperParameter::Kind::choice: return "choice";
  }
  return "number";
}

std::string_view word_of_state(HelperTrial::State state) {
  switch (state) {
    case HelperTrial::State::complete: return "complete";
    case HelperTrial::State::stopped: return "stopped";
    case HelperTrial::State::running: return "running";
  }
  return "running";
}

HelperJson json_of_parameter(const HelperParameter& parameter) {
  HelperJson json = {{"kind", std::string(word_of_kind(parameter.kind))}};
  if (parameter.kind == HelperParameter::Kind::number) {
    json["low"] = parameter.low;
    json["high"] = parameter.high;
  } else {
    json["count"] = parameter.count;
  }
  return json;
}

HelperJson json_of_trial(const HelperTrial& trial) {
  HelperJson json = {{"state", std::string(word_of_state(trial.state))}, {"values", trial.values}};
  if (std::isnan(trial.objective)) return json;
  json["objective"] = trial.objective;
  json["intervals"] = trial.intervals;
  return json;
}

Error no_answer(std::string_view what) {
  return make_error(ErrorCode::corrupt,
                    fmt::format("the helper of a bayesian sweep gave no answer: {}", what));
}

const HelperJson* member(const HelperJson& json, const char* key) {
  const auto found = json.find(key);
  return found == json.end() ? nullptr : &*found;
}

// The helper's own error: {"error": "…", "again": false}.
Error error_of_helper(const HelperJson& json, const HelperJson& error) {
  const HelperJson* again = member(json, "again");
  const bool is_final = again != nullptr && again->is_boolean() && !again->get<bool>();
  const std::string text = error.is_string() ? error.get<std::string>() : "it says no reason";
  constexpr std::size_t kMostBytes = 4'096;
  return make_error(is_final ? ErrorCode::unsupported : ErrorCode::unavailable,
                    "bayesian sampling: " + in_one_line(head(text, kMostBytes)));
}

Result<std::vector<double>> numbers_of(const HelperJson& json) {
  if (!json.is_array()) return no_answer("a suggestion is no list");
  std::vector<double> numbers;
  for (const HelperJson& one : json) {
    if (!one.is_number()) return no_answer("a suggestion has what is no number");
    numbers.push_back(one.get<double>());
  }
  return numbers;
}

}  // namespace

std::string question_line(const SuggestionRequest& request) {
  HelperJson json = {{"goal", std::string(to_string(request.goal))},
                     {"seed", request.seed},
                     {"count", request.count},
                     {"optuna", request.optuna}};
  json["parameters"] = HelperJson::array();
  for (const HelperParameter& parameter : request.parameters)
    json["parameters"].push_back(json_of_parameter(parameter));
  json["trials"] = HelperJson::array();
  for (const HelperTrial& trial : request.trials) json["trials"].push_back(json_of_trial(trial));
  return json.dump(-1, ' ', false, HelperJson::error_handler_t::replace);
}

Result<Suggestions> read_answer(const SweepSpec& sweep, const SuggestionRequest& request,
                                std::string_view line) {
  if (line.size() > kMaxHelperLine) return no_answer("its line is too long");
  const HelperJson json = HelperJson::parse(line, nullptr, false);
  if (!json.is_object()) return no_answer("its line is no JSON object");
  if (const HelperJson* error = member(json, "error")) return error_of_helper(json, *error);
  const HelperJson* all = member(json, "suggestions");
  const HelperJson* optuna = member(json, "optuna");
  if (all == nullptr || !all->is_array() || all->empty()) return no_answer("it has no suggestions");
  if (all->size() > request.count) return no_answer("it has more suggestions than were asked for");
  if (optuna == nullptr || !optuna->is_string()) return no_answer("it names no version of Optuna");
  Suggestions suggestions;
  suggestions.first_trial = request.first_trial;
  suggestions.optuna = optuna->get<std::string>();
  for (const HelperJson& one : *all) {
    TRY_ASSIGN(const std::vector<double> numbers, numbers_of(one));
    TRY_ASSIGN(TrialParameters parameters, suggested_parameters(sweep, numbers));
    suggestions.trials.push_back(std::move(parameters));
  }
  return suggestions;
}

}  // namespace lockstep::sweeps
