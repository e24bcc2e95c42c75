#include "launcher/files/yaml/key_notes.h"

#include <algorithm>

namespace lockstep::spec {

namespace {

constexpr std::string_view kOfComponents =
    "it belongs to the inputs of a component; give the value itself, as in inputs: {lr: 0.1}";

constexpr KeyNote kNotes[] = {
    // differs from Azure
    {"$schema", "names the kind of job where `type` is absent; it is not fetched"},
    {"experiment_name", "a name for filters; Default, or your `defaults.experiment`"},
    {"code", "a local folder or file; git and registered code are refused by name"},
    {"environment", "absent: each node's PATH as it is, instead of an error"},
    {"environment.version", "absent: the next whole number, or the version with this content"},
    {"environment.os_type", "linux only"},
    {"compute",
     "a target of the launcher; `azureml:` may be left out; absent: your default, or local"},
    {"resources.instance_type", "a size of the target's machines (`lockstep size list`)"},
    {"resources.properties", "read and not used"},
    {"queue_settings.job_tier", "kept and shown; it changes nothing"},
    {"inputs.*.mode", "eval_mount and eval_download are refused by name"},
    {"outputs.*.mode",
     "rw_mount, mount and upload mean the same: collected when the rank has ended; direct is "
     "refused"},
    {"outputs.*.path",
     "azureml://datastores/NAME/paths/PATH, for a datastore of the operator, or "
     "${{default_datastore}} as NAME"},
    {"outputs.*.name", "the merged output is registered as data, or as a model, by its `type`"},
    {"outputs.*.version", "absent: the next whole number"},
    {"distribution.worker_count", "absent: one for each node"},
    {"distribution.port", "absent: one that is free"},
    {"distribution.address", "absent: that of the first node"},
    {"distribution.dashboard_port", "used if `include_dashboard` is true"},
    {"limits.timeout", "seconds, as on Azure, or 90s, 5m, 2h"},
    // accepted, without effect
    {"services",
     "`lockstep job show` names a job's nodes: log in to them as you always do (those of target "
     "local "
     "are this machine; hosts that were attached over ssh: `lockstep compute connect-ssh TARGET`)"},
    {"identity",
     "a job runs as the account of its user on the nodes, and the operator's datastores bring "
     "their own credentials"},
    {"properties", "write what you want to note into `tags`"},
    {"outputs.*.description", "read and not used"},
    // refused, with what to write instead
    {"parameters", "write `inputs`"},
    {"schedule", "submit the file from cron, with `lockstep job create -f FILE`"},
    {"resources.locations", "choose a target with `compute`, or nodes with `lockstep.labels`"},
    {"resources.max_instance_count", "a job has as many nodes as `resources.instance_count` says"},
    {"inputs.*.default", kOfComponents},
    {"inputs.*.optional", kOfComponents},
    {"inputs.*.min", kOfComponents},
    {"inputs.*.max", kOfComponents},
    {"inputs.*.enum", kOfComponents},
    {"inputs.*.value", kOfComponents},
    {"additional_includes", "files and folders beside `code`, which come into it by their names"},
    {"environment.inference_config",
     "leave it out: it is for Azure's online endpoints; a server runs as a job's `command`"},
    {"environment.properties", "leave it out, or write `tags`"},
    {"intellectual_property", "leave it out"},
    // settings of pipelines, which another reader handles
    {"settings.default_datastore",
     "what ${{default_datastore}} is in its steps' outputs; outputs without a path stay in the "
     "launcher"},
    {"settings.continue_on_step_failure",
     "true unless it is given, as on Azure; of the outermost "
     "pipeline"},
};

}  // namespace

std::span<const KeyNote> key_notes() { return kNotes; }

std::string_view note_of(std::string_view path) {
  const auto* found = std::find_if(std::begin(kNotes), std::end(kNotes),
                                   [&](const KeyNote& note) { return note.path == path; });
  return found == std::end(kNotes) ? std::string_view() : found->words;
}

}  // namespace lockstep::spec
