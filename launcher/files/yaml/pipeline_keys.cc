// The keys of pipelines, their steps, and components (reference: azuremlschemas pipelineJob,
// commandComponent, pipelineComponent). Other keys of a step are those of a job.

#include "launcher/files/yaml/keys.h"

namespace lockstep::spec {

namespace {

constexpr std::string_view kNoArray =
    "write a step for each index, or submit the array in a step's command: lockstep job create -f "
    "array.yml";
constexpr std::string_view kNoAfter =
    "submit the pipeline when that job has ended: lockstep job stream JOB && lockstep job create "
    "-f FILE";
constexpr std::string_view kNoBefore = "submit the pipeline at that time, from cron or `at`";

constexpr std::string_view kNoTerminal =
    "is not possible in a pipeline, whose steps run when nobody waits for them; run that command "
    "as a job of its own: lockstep run --pty";

constexpr KnownKey kStepKeys[] = {
    {"experiment_name", Shape::of_pipeline},
    {"component", Shape::unchecked},
    {"inputs", Shape::inputs},
    {"inputs.*.type", Shape::text},
    {"inputs.*.path", Shape::text},
    {"inputs.*.mode", Shape::text},
    {"outputs", Shape::bound_outputs},
    {"outputs.*.path", Shape::text},
    {"outputs.*.name", Shape::text},
    {"outputs.*.version", Shape::text},
    {"settings", Shape::of_pipeline},
    {"jobs", Shape::of_pipeline},
    {"is_deterministic", Shape::text},
    {"lockstep.project", Shape::of_pipeline},
    {"lockstep.after", Shape::of_job},
    {"lockstep.array", Shape::not_yet, kNoArray},
    {"lockstep.not_before", Shape::of_job},
    {"lockstep.terminal", Shape::of_job, kNoTerminal},
    // keys for parts of a component that are not in its file
    {"additional_includes", Shape::unchecked},
    {"intellectual_property", Shape::not_yet},
};

constexpr KnownKey kPortKeys[] = {
    {"inputs", Shape::inputs},
    {"inputs.*.type", Shape::text},
    {"inputs.*.default", Shape::text},
    {"inputs.*.optional", Shape::text},
    {"inputs.*.min", Shape::text},
    {"inputs.*.max", Shape::text},
    {"inputs.*.enum", Shape::unchecked},
    {"inputs.*.mode", Shape::text},
    {"inputs.*.description", Shape::text},
    {"inputs.*.properties", Shape::not_yet, "leave it out"},
    {"inputs.*.path", Shape::of_step},
    {"outputs", Shape::bound_outputs},
    {"outputs.*.type", Shape::text},
    {"outputs.*.mode", Shape::text},
    {"outputs.*.description", Shape::text},
    {"outputs.*.path", Shape::text},
};

constexpr KnownKey kPipelineKeys[] = {
    {"$schema", Shape::text},
    {"type", Shape::text},
    {"name", Shape::text},
    {"version", Shape::text},
    {"display_name", Shape::text},
    {"experiment_name", Shape::text},
    {"description", Shape::text},
    {"tags", Shape::text_map},
    {"compute", Shape::text},
    {"component", Shape::unchecked},
    {"is_deterministic", Shape::text},
    {"inputs", Shape::inputs},
    {"inputs.*.type", Shape::text},
    {"inputs.*.path", Shape::text},
    {"inputs.*.mode", Shape::text},
    {"inputs.*.description", Shape::text},
    {"inputs.*.default", Shape::text},
    {"inputs.*.optional", Shape::text},
    {"inputs.*.min", Shape::text},
    {"inputs.*.max", Shape::text},
    {"inputs.*.enum", Shape::unchecked},
    {"outputs", Shape::bound_outputs},
    {"outputs.*.type", Shape::text},
    {"outputs.*.mode", Shape::text},
    {"outputs.*.path", Shape::text},
    {"outputs.*.description", Shape::text},
    {"outputs.*.name", Shape::text},
    {"outputs.*.version", Shape::text},
    {"settings", Shape::unchecked},
    {"jobs", Shape::unchecked},
    {"lockstep", Shape::section},
    {"lockstep.project", Shape::text},
    {"properties", Shape::unused},
    {"services", Shape::unused},
    {"identity", Shape::unused},
    {"schedule", Shape::not_yet},
    {"command", Shape::of_step},
    {"code", Shape::of_step},
    {"environment", Shape::of_step},
    {"environment_variables", Shape::of_step},
    {"distribution", Shape::of_step},
    {"resources", Shape::of_step},
    {"limits", Shape::of_step},
    {"queue_settings", Shape::of_step},
    {"lockstep.resources", Shape::of_step},
    {"lockstep.gpus_per_rank", Shape::of_step},
    {"lockstep.isolated", Shape::of_step},
    {"lockstep.rdma", Shape::of_step},
    {"lockstep.labels", Shape::of_step},
    {"lockstep.nodes", Shape::of_step},
    {"lockstep.limits", Shape::of_step},
    {"lockstep.grace_period", Shape::of_step},
    {"lockstep.signal", Shape::of_step},
    {"lockstep.terminal", Shape::of_job, kNoTerminal},
    {"lockstep.hang_after", Shape::of_step},
    {"lockstep.on_hang", Shape::of_step},
    {"lockstep.core", Shape::of_step},
    {"lockstep.metrics", Shape::of_step},
    {"lockstep.retry", Shape::of_step},
    {"lockstep.keep", Shape::of_step},
    {"lockstep.links", Shape::of_step},
    {"lockstep.from_checkpoint_of", Shape::of_step},
    {"lockstep.after", Shape::not_yet, kNoAfter},
    {"lockstep.array", Shape::not_yet, kNoArray},
    {"lockstep.not_before", Shape::not_yet, kNoBefore},
    {"lockstep.checkpoint", Shape::of_step},
};

}  // namespace

KeyTable step_keys() { return {kStepKeys, known_keys()}; }
KeyTable port_keys() { return {kPortKeys}; }
KeyTable pipeline_keys() { return {kPipelineKeys}; }

}  // namespace lockstep::spec
