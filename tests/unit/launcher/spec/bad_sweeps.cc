#include <array>
#include <utility>

#include "tests/unit/launcher/spec/bad_environments.h"
#include "tests/unit/launcher/spec/bad_input.h"

namespace lockstep::spec {

namespace {

// A good sweep in which some lines are others; line 8 is empty.
std::string sweep_with(std::vector<std::pair<std::size_t, std::string>> others) {
  std::array<std::string, 8> lines = {"type: sweep",
                                      "trial: {command: 'train ${{search_space.lr}}'}",
                                      "sampling_algorithm: random",
                                      "search_space:",
                                      "  lr: {type: uniform, min_value: 0.1, max_value: 1}",
                                      "objective: {goal: minimize, primary_metric: loss}",
                                      "limits: {max_total_trials: 4}",
                                      ""};
  for (auto& [number, line] : others) lines[number - 1] = std::move(line);
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// With another line for its parameter.
std::string space_with(const std::string& line) { return sweep_with({{5, line}}); }
// With an early_termination, in line 8.
std::string early_with(const std::string& keys) {
  return sweep_with({{8, "early_termination: {" + keys + "}"}});
}

// A pipeline with a sweep step, whose component is one of files_of_bad_pipelines().
std::string step_with(const std::string& trial, const std::string& inputs, const std::string& space,
                      const std::string& more = "") {
  return "jobs:\n  a:\n    type: sweep\n    trial: " + trial + "\n    inputs: {" + inputs +
         "}\n    sampling_algorithm: random\n    search_space: {" + space +
         "}\n    objective: {goal: minimize, primary_metric: loss}\n"
         "    limits: {max_total_trials: 2}\n" +
         more;
}

const std::string kData = "data: {path: 'azureml:d:1'}";

}  // namespace

std::vector<BadInput> bad_sweeps() {
  const std::string uniform = "{type: uniform, min_value: 0, max_value: 1}";
  return {
      // the trial
      {"no_trial",
       sweep_with({{2, ""}}),
       {},
       "job.yml:1:1: a sweep needs a 'trial': {command: …}, or the file of a component, such as "
       "./train.yml"},
      {"empty_trial",
       sweep_with({{2, "trial:"}}),
       {},
       "job.yml:2:1: a sweep needs a 'trial': {command: …}, or the file of a component, such as "
       "./train.yml"},
      {"trial_list",
       sweep_with({{2, "trial: [a]"}}),
       {},
       "job.yml:2:8: 'trial' must be a mapping of keys to values, not a list"},
      {"trial_without_command",
       sweep_with({{2, "trial: {code: src}"}}),
       {},
       "job.yml:2:8: the trial has no 'command'; say what to run"},
      {"trial_key",
       sweep_with({{2, "trial: {comand: x}"}}),
       {},
       "job.yml:2:9: unknown key 'trial.comand'; did you mean 'trial.command'?"},
      {"command_beside_the_trial",
       sweep_with({{8, "command: x"}}),
       {},
       "job.yml:8:1: 'command' belongs to the trial of a sweep; write trial: {command: …}"},
      {"environment_beside_the_trial",
       sweep_with({{8, "environment: azureml:e@latest"}}),
       {},
       "job.yml:8:1: 'environment' belongs to the trial of a sweep; write trial: {environment: …}"},
      {"component_of_a_sweep",
       sweep_with({{8, "component: ./train.yml"}}),
       {},
       "job.yml:8:1: 'component': a sweep names its component as its 'trial'"},
      {"trial_is_not_there",
       sweep_with({{2, "trial: ./none.yml"}}),
       {},
       "job.yml:2:8: 'component': there is no none.yml",
       ErrorCode::not_found},
      // sampling
      {"no_sampling",
       sweep_with({{3, ""}}),
       {},
       "job.yml:1:1: a sweep needs a 'sampling_algorithm': random, grid or bayesian"},
      {"sampling_word",
       sweep_with({{3, "sampling_algorithm: baysian"}}),
       {},
       "job.yml:3:21: 'sampling_algorithm': unknown word 'baysian'; did you mean 'bayesian'?"},
      {"sampling_list",
       sweep_with({{3, "sampling_algorithm: [random]"}}),
       {},
       "job.yml:3:21: 'sampling_algorithm' must be a string, not a list"},
      {"sampling_without_type",
       sweep_with({{3, "sampling_algorithm: {seed: 3}"}}),
       {},
       "job.yml:3:1: 'sampling_algorithm' needs a 'type': random, grid or bayesian"},
      {"seed_of_a_grid",
       sweep_with({{3, "sampling_algorithm: {type: grid, seed: 3}"},
                   {5, "  lr: {type: choice, values: [0.1]}"}}),
       {},
       "job.yml:3:34: 'sampling_algorithm.seed' is a key of random, not of grid; leave it out"},
      {"seed_is_a_word",
       sweep_with({{3, "sampling_algorithm: {type: random, seed: abc}"}}),
       {},
       "job.yml:3:42: 'sampling_algorithm.seed': 'abc' is not a whole number"},
      {"rule",
       sweep_with({{3, "sampling_algorithm: {type: random, rule: sobl}"}}),
       {},
       "job.yml:3:42: 'sampling_algorithm.rule': unknown word 'sobl'; did you mean 'sobol'?"},
      {"logbase",
       sweep_with({{3, "sampling_algorithm: {type: random, logbase: 1}"}}),
       {},
       "job.yml:3:45: 'sampling_algorithm.logbase': 1 is not a base; write e, or a number above 0 "
       "other than 1"},
      {"grid_of_a_range",
       sweep_with({{3, "sampling_algorithm: grid"}}),
       {},
       "job.yml:5:14: 'search_space.lr': grid takes only choice, not uniform; write the values of "
       "the grid: {type: choice, values: [0.1, 0.2]}, or sampling_algorithm: random"},
      {"bayesian_of_a_logarithm",
       sweep_with({{3, "sampling_algorithm: bayesian"},
                   {5, "  lr: {type: loguniform, min_value: -3, max_value: -1}"}}),
       {},
       "job.yml:5:14: 'search_space.lr': bayesian takes only choice, uniform and quniform, not "
       "loguniform; write sampling_algorithm: random for it"},
      {"bayesian_of_mappings",
       sweep_with(
           {{3, "sampling_algorithm: bayesian"}, {5, "  lr: {type: choice, values: [{a: 1}]}"}}),
       {},
       "job.yml:5:14: 'search_space.lr': bayesian takes only plain values of a choice, no "
       "mappings; "
       "write sampling_algorithm: random for it"},
      // the search space
      {"no_space",
       sweep_with({{4, ""}, {5, ""}}),
       {},
       "job.yml:1:1: a sweep needs a 'search_space', such as {lr: {type: uniform, min_value: 0.1, "
       "max_value: 1}}"},
      {"mistyped_space",
       sweep_with({{4, "search_spaces:"}}),
       {},
       "job.yml:4:1: unknown key 'search_spaces'; did you mean 'search_space'?"},
      {"space_list",
       sweep_with({{4, "search_space: [lr]"}, {5, ""}}),
       {},
       "job.yml:4:15: 'search_space' must be a mapping of names to expressions, such as {lr: "
       "{type: "
       "uniform, min_value: 0.1, max_value: 1}}, not a list"},
      {"empty_space",
       sweep_with({{4, "search_space: {}"}, {5, ""}}),
       {},
       "job.yml:4:15: 'search_space' must be a mapping of names to expressions, such as {lr: "
       "{type: "
       "uniform, min_value: 0.1, max_value: 1}}, not an empty mapping"},
      {"constant",
       space_with("  lr: 0.1"),
       {},
       "job.yml:5:7: 'search_space.lr': must be a mapping with a type, such as {type: uniform, "
       "min_value: 0.1, max_value: 1}, not a value"},
      {"no_type",
       space_with("  lr: {min_value: 0.1}"),
       {},
       "job.yml:5:3: 'search_space.lr': needs a type: choice, randint, uniform, quniform, "
       "loguniform, qloguniform, normal, qnormal, lognormal, qlognormal"},
      {"type_word",
       space_with("  lr: {type: unifrom, min_value: 0.1, max_value: 1}"),
       {},
       "job.yml:5:14: 'search_space.lr.type': unknown word 'unifrom'; did you mean 'uniform'?"},
      {"no_bound",
       space_with("  lr: {type: uniform, min_value: 0.1}"),
       {},
       "job.yml:5:3: 'search_space.lr': uniform needs 'max_value'"},
      {"bound_of_another_name",
       space_with("  lr: {type: uniform, min: 0.1, max_value: 1}"),
       {},
       "job.yml:5:3: 'search_space.lr': uniform needs 'min_value'\n"
       "job.yml:5:23: unknown key 'search_space.lr.min'; uniform has min_value, max_value"},
      {"mistyped_bound",
       space_with("  lr: {type: uniform, min_valu: 0.1, max_value: 1}"),
       {},
       "job.yml:5:23: unknown key 'search_space.lr.min_valu'; did you mean "
       "'search_space.lr.min_value'?"},
      {"key_of_another_type",
       space_with("  lr: {type: uniform, min_value: 0.1, max_value: 1, q: 0.1}"),
       {},
       "job.yml:5:53: 'search_space.lr.q' is a key of quniform, qloguniform, qnormal, qlognormal, "
       "not of uniform; leave it out"},
      {"swapped_bounds",
       space_with("  lr: {type: uniform, min_value: 1, max_value: 0.1}"),
       {},
       "job.yml:5:34: 'search_space.lr.min_value': 1 is more than max_value 0.1; swap them"},
      {"bound_is_a_word",
       space_with("  lr: {type: uniform, min_value: low, max_value: 1}"),
       {},
       "job.yml:5:34: 'search_space.lr.min_value': 'low' is not a number"},
      {"infinite_bound",
       space_with("  lr: {type: uniform, min_value: .inf, max_value: 1}"),
       {},
       "job.yml:5:34: 'search_space.lr.min_value': '.inf' is not a number"},
      {"step_of_nothing",
       space_with("  lr: {type: quniform, min_value: 1, max_value: 9, q: 0}"),
       {},
       "job.yml:5:55: 'search_space.lr.q': 0 is not a step; it must be more than 0"},
      {"negative_sigma",
       space_with("  lr: {type: normal, mu: 0, sigma: -1}"),
       {},
       "job.yml:5:36: 'search_space.lr.sigma': -1 is not a deviation; it must be 0 or more"},
      {"exponent",
       space_with("  lr: {type: loguniform, min_value: 1, max_value: 1000}"),
       {},
       "job.yml:5:51: 'search_space.lr.max_value': 1000 is too large; the bounds of a logarithmic "
       "expression are exponents, so that it draws from base^min_value to base^max_value: for "
       "0.001 "
       "to 0.1 write min_value: -6.908, max_value: -2.303"},
      {"randint_of_nothing",
       space_with("  lr: {type: randint, upper: 0}"),
       {},
       "job.yml:5:30: 'search_space.lr.upper': is 0; randint draws from 0 to upper - 1, so it must "
       "be 1 to 9007199254740992"},
      {"randint_of_a_fraction",
       space_with("  lr: {type: randint, upper: 1.5}"),
       {},
       "job.yml:5:30: 'search_space.lr.upper': '1.5' is not a whole number"},
      {"choice_of_no_list",
       space_with("  lr: {type: choice, values: 3}"),
       {},
       "job.yml:5:30: 'search_space.lr.values': must be a list of values, such as [16, 32], not a "
       "value"},
      {"empty_choice",
       space_with("  lr: {type: choice, values: []}"),
       {},
       "job.yml:5:30: 'search_space.lr.values': is empty; write the values to choose from"},
      {"choice_of_lists",
       space_with("  lr: {type: choice, values: [[1]]}"),
       {},
       "job.yml:5:31: 'search_space.lr.values': a value must be a text, a number or a mapping, not "
       "a list"},
      {"nested_expression",
       space_with("  lr: {type: choice, values: [{depth: {type: randint, upper: x}}]}"),
       {},
       "job.yml:5:62: 'search_space.lr.values.depth.upper': 'x' is not a whole number"},
      {"name",
       space_with("  my-lr: {type: randint, upper: 3}"),
       {},
       "job.yml:5:3: 'search_space': my-lr is not a name; use letters, digits and '_', and do not "
       "begin with a digit"},
      {"unknown_parameter",
       sweep_with({{2, "trial: {command: 'train ${{search_space.rate}}'}"}}),
       {},
       "job.yml:2:25: unknown parameter 'rate' in '${{search_space.rate}}'"},
      // the objective
      {"no_objective",
       sweep_with({{6, ""}}),
       {},
       "job.yml:1:1: a sweep needs an 'objective': {goal: minimize, primary_metric: NAME}"},
      {"no_goal",
       sweep_with({{6, "objective: {primary_metric: loss}"}}),
       {},
       "job.yml:6:1: 'objective' needs a 'goal': minimize or maximize"},
      {"goal_word",
       sweep_with({{6, "objective: {goal: min, primary_metric: loss}"}}),
       {},
       "job.yml:6:19: 'objective.goal': unknown word 'min'; it must be minimize or maximize"},
      {"no_metric",
       sweep_with({{6, "objective: {goal: minimize}"}}),
       {},
       "job.yml:6:1: 'objective' needs a 'primary_metric': the name under which trials log it, as "
       "in mlflow.log_metric(NAME, value)"},
      // early termination
      {"policy_without_type",
       early_with("slack_factor: 0.1"),
       {},
       "job.yml:8:1: 'early_termination' needs a 'type': bandit, median_stopping or "
       "truncation_selection"},
      {"policy_word",
       early_with("type: bandits, slack_factor: 1"),
       {},
       "job.yml:8:27: 'early_termination.type': unknown word 'bandits'; did you mean 'bandit'?"},
      {"bandit_without_slack",
       early_with("type: bandit"),
       {},
       "job.yml:8:1: 'early_termination' of type bandit needs 'slack_factor' or 'slack_amount': "
       "how "
       "much worse than the best a trial may be"},
      {"bandit_with_both",
       early_with("type: bandit, slack_factor: 0.1, slack_amount: 2"),
       {},
       "job.yml:8:68: 'early_termination.slack_amount' cannot be combined with 'slack_factor'; "
       "leave one of them out"},
      {"negative_slack",
       early_with("type: bandit, slack_factor: -1"),
       {},
       "job.yml:8:49: 'early_termination.slack_factor': is -1; must be 0 or more"},
      {"truncation_without_percentage",
       early_with("type: truncation_selection"),
       {},
       "job.yml:8:1: 'early_termination' of type truncation_selection needs "
       "'truncation_percentage', 1 to 99: of so many in a hundred trials the worst are stopped"},
      {"truncation_of_all",
       early_with("type: truncation_selection, truncation_percentage: 100"),
       {},
       "job.yml:8:72: 'early_termination.truncation_percentage': is 100; must be 1 to 99"},
      {"slack_of_a_median",
       early_with("type: median_stopping, slack_factor: 0.1"),
       {},
       "job.yml:8:44: 'early_termination.slack_factor' is a key of bandit, not of median_stopping; "
       "leave it out"},
      {"negative_delay",
       early_with("type: median_stopping, delay_evaluation: -1"),
       {},
       "job.yml:8:62: 'early_termination.delay_evaluation': must not be negative"},
      {"finished_jobs",
       early_with("type: median_stopping, exclude_finished_jobs: true"),
       {},
       "job.yml:8:44: 'early_termination.exclude_finished_jobs' is not supported yet; leave it "
       "out: "
       "trials that have finished count, too",
       kNotYet},
      // limits
      {"no_trials",
       sweep_with({{7, "limits: {max_total_trials: 0}"}}),
       {},
       "job.yml:7:28: 'limits.max_total_trials': is 0; must be 1 to 1000"},
      {"too_many_trials",
       sweep_with({{7, "limits: {max_total_trials: 1001}"}}),
       {},
       "job.yml:7:28: 'limits.max_total_trials': is 1001; must be 1 to 1000"},
      {"none_at_once",
       sweep_with({{7, "limits: {max_concurrent_trials: 0}"}}),
       {},
       "job.yml:7:33: 'limits.max_concurrent_trials': is 0; must be 1 to 1000"},
      {"no_time",
       sweep_with({{7, "limits: {timeout: 0}"}}),
       {},
       "job.yml:7:19: 'limits.timeout': must be more than 0 seconds"},
      {"no_time_of_a_trial",
       sweep_with({{7, "limits: {trial_timeout: soon}"}}),
       {},
       "job.yml:7:25: 'limits.trial_timeout': 'soon' is not a time; write seconds, or 90s, 5m, 2h, "
       "1d"},
      {"limits_key",
       sweep_with({{7, "limits: {max_total_trial: 4}"}}),
       {},
       "job.yml:7:10: unknown key 'limits.max_total_trial'; did you mean "
       "'limits.max_total_trials'?"},
      // what a sweep is not
      {"array_of_a_sweep",
       sweep_with({{8, "lockstep: {array: 0-3}"}}),
       {},
       "job.yml:8:19: 'lockstep.array': a sweep has trials instead of tasks; leave it out, or "
       "write "
       "a choice of the indices into its search_space"},
      {"terminal_of_a_sweep",
       sweep_with({{8, "lockstep: {terminal: pty}"}}),
       {},
       "job.yml:8:22: lockstep.terminal: the trials of a sweep have none, since nobody can write "
       "to "
       "all of them; leave it out"},
      {"expression_in_a_command",
       "command: x ${{search_space.lr}}\n",
       {},
       "job.yml:1:12: '${{search_space.lr}}' has values only in the trials of a sweep; write type: "
       "sweep, and a search_space with 'lr'"},
      {"space_of_a_command",
       "command: x\nsearch_space: {lr: 1}\n",
       {},
       "job.yml:2:1: 'search_space' is not supported yet; it belongs to a sweep; write type: sweep",
       kNotYet},
      // steps
      {"step_without_such_an_input",
       step_with("train.yml", kData, "momentum: " + uniform),
       {},
       "job.yml:7:20: 'search_space.momentum': train.yml has no input of this name"},
      {"value_that_the_component_refuses",
       step_with("train.yml", kData, "lr: {type: uniform, min_value: 0, max_value: 2}"),
       {},
       "job.yml:7:20: 'search_space.lr': 2.0 is more than max 1 (train.yml:4:3)"},
      {"choice_that_the_component_refuses",
       step_with("train.yml", kData, "n: {type: choice, values: [3, 4]}"),
       {},
       "job.yml:7:20: 'search_space.n': 4 is not one of 3, 5 (train.yml:5:3)"},
      {"value_for_data",
       step_with("train.yml", "", "data: {type: choice, values: [a]}"),
       {},
       "job.yml:7:20: 'search_space.data': a is a plain value, but the input is a uri_folder "
       "(train.yml:3:3); write {path: …}"},
      {"value_given_twice",
       step_with("train.yml", kData + ", lr: 0.5", "lr: " + uniform),
       {},
       "job.yml:7:20: 'search_space.lr': the step gives this input a value, too (job.yml:5:43); "
       "leave one of them out"},
      {"pipeline_as_trial",
       step_with("inner.yml", "", "lr: " + uniform),
       {},
       "job.yml:4:12: 'trial': inner.yml is a pipeline component (inner.yml:1:1); the trial of a "
       "sweep is a command"},
      {"value_for_another_step",
       step_with(
           "train.yml", kData, "lr: " + uniform,
           "  b: {command: 'x ${{inputs.v}}', inputs: {v: '${{parent.jobs.a.inputs.lr}}'}}\n"),
       {},
       "job.yml:10:47: '${{parent.jobs.a.inputs.lr}}' has another value in each trial of the sweep "
       "(job.yml:7:20)"},
  };
}

}  // namespace lockstep::spec
