// The keys of a sweep, and of its trial if that is written inside it (reference: azuremlschemas
// sweepJob). All other keys are those of a job, or of a step.

#include "launcher/spec/keys.h"

namespace lockstep::spec {

namespace {

constexpr KnownKey kSweepKeys[] = {
    {"sampling_algorithm", Shape::section_or_word},
    {"sampling_algorithm.type", Shape::text},
    {"sampling_algorithm.seed", Shape::text},
    {"sampling_algorithm.rule", Shape::text},
    {"sampling_algorithm.logbase", Shape::text},
    {"search_space", Shape::unchecked},
    {"objective", Shape::section},
    {"objective.goal", Shape::text},
    {"objective.primary_metric", Shape::text},
    {"early_termination", Shape::section},
    {"early_termination.type", Shape::text},
    {"early_termination.evaluation_interval", Shape::whole_number},
    {"early_termination.delay_evaluation", Shape::whole_number},
    {"early_termination.slack_factor", Shape::text},
    {"early_termination.slack_amount", Shape::text},
    {"early_termination.truncation_percentage", Shape::whole_number},
    {"early_termination.exclude_finished_jobs", Shape::not_yet,
     "leave it out: trials that have finished count, too"},
    {"limits", Shape::section},
    {"limits.max_total_trials", Shape::whole_number},
    {"limits.max_concurrent_trials", Shape::whole_number},
    {"limits.timeout", Shape::duration},
    {"limits.trial_timeout", Shape::duration},
    {"trial", Shape::section},
    {"trial.command", Shape::text},
    {"trial.code", Shape::text},
    {"trial.environment", Shape::environment},
    {"trial.environment_variables", Shape::text_map},
    // their own keys are checked with those of the job
    {"trial.distribution", Shape::unchecked},
    {"trial.resources", Shape::unchecked},
    {"trial.queue_settings", Shape::unchecked},
    {"trial.lockstep", Shape::unchecked},
};

}  // namespace

KeyTable sweep_keys() { return {kSweepKeys}; }

}  // namespace lockstep::spec
