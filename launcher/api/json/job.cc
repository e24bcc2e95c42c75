#include "launcher/api/json/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/domain/job/pipeline.h"
#include "common/domain/people/access.h"
#include "launcher/api/json/environment.h"
#include "launcher/api/json/found.h"
#include "launcher/api/json/job_impl.h"
#include "launcher/api/json/pipeline.h"
#include "launcher/words/why.h"

namespace lockstep::api {

namespace {

std::vector<std::string> unwritten_of_pipeline(const JobView& job) {
  std::vector<std::string> lines;
  if (job.status != JobStatus::completed) return lines;
  for (const MergedOutput& output : job.merged)
    if (!output.tree)
      lines.push_back(fmt::format(
          "output '{}' of the pipeline has no files: {}", output.name,
          output.problems.empty() ? "its step wrote nothing to it" : output.problems.front()));
  return lines;
}

}  // namespace

std::vector<std::string> unwritten_outputs(const JobView& job) {
  std::vector<std::string> lines;
  if (job.spec.pipeline) return unwritten_of_pipeline(job);
  if (job.status != JobStatus::completed || job.attempts.empty()) return lines;
  const std::vector<PartView>& parts = job.attempts.back().parts;
  for (const OutputSpec& spec : job.spec.outputs) {
    const bool is_there = std::any_of(parts.begin(), parts.end(), [&](const PartView& part) {
      return std::any_of(part.outputs.begin(), part.outputs.end(), [&](const auto& output) {
        return output.kind == OutputKind::named && output.name == spec.name;
      });
    });
    if (!is_there)
      lines.push_back(
          fmt::format("output '{}' ({}) was never written: no rank wrote to "
                      "${{{{outputs.{}}}}}",
                      spec.name, type_word(spec), spec.name));
  }
  for (const MergedOutput& output : job.merged)
    for (const std::string& problem : output.problems)
      lines.push_back(fmt::format("output '{}': {}", output.name, problem));
  for (const std::string& pattern : unmatched_keep(job))
    lines.push_back(fmt::format(
        "keep '{}' matched no file that the ranks made outside ./outputs and ./logs", pattern));
  return lines;
}

// ---- what was asked for -------------------------------------------------------------------------

void keys(const DataInput& input, See& see) {
  see("type", input.type, "Azure's name of its kind.");
  see("mode", input.mode, "How its ranks get it.");
  see("path", input.source, "As the job file names it.");
  see("digest", input.tree,
      "SHA-256 of its tree; null: the mode is direct, or it is used in place in a datastore's "
      "directory.");
}

void keys(const After& after, See& see) {
  see("job", after.job, "The job's name.");
  see("when", after.when,
      "completed: it must have Completed, else this job is Canceled; ended: in any way.");
}

void keys(const RetryPolicy& retry, See& see) {
  std::vector<std::variant<RetryOn, int>> on(retry.on.begin(), retry.on.end());
  on.insert(on.end(), retry.exit_codes.begin(), retry.exit_codes.end());
  see("max", retry.max, "How often it may be tried again.");
  see("on", on, "What it is tried again for: words, and exit codes.", kAnyNumber);
  see("backoff", retry.backoff, "How long the first retry waits, in seconds");
  see("on_lost", retry.on_lost, "When a retry may start after a node was lost.");
}

void keys(const LimitRequest& limits, See& see) {
  see("pids", limits.pids, "Processes and threads of one rank; null: the node's default.");
  see("log", limits.log,
      "Bytes that the ranks of one node may write to their standard streams; null: the node's "
      "default.");
  see("disk", limits.disk,
      "Bytes of disk that an attempt may fill on one node; null: the node's default.");
  see("required", limits.required,
      "The job runs only where its limits of memory and processes can be enforced.");
}

void keys(const EarlySignal& signal, See& see) {
  const std::string name = signal.number == 0 ? "" : std::string(early_signal_name(signal.number));
  see("name", name, "The signal, such as USR1.");
  see("before", signal.before, "How long before the end, in seconds.");
}

namespace {

constexpr Allowed kPort{.low = 1, .high = 65'535};
constexpr std::string_view kJobTypes[] = {"command", "pipeline"};
constexpr std::string_view kGpusPerRank[] = {"isolated", "all"};

using Input = std::variant<std::string, DataInput>;

// Literals as text, data as an object.
Entries<Input> inputs_of(const JobSpec& spec) {
  Entries<Input> inputs(spec.inputs.begin(), spec.inputs.end());
  for (const DataInput& input : spec.data) inputs.emplace_back(input.name, input);
  return inputs;
}

using TextOrWords = std::variant<std::string, std::vector<std::string>>;

std::optional<TextOrWords> command_of(const JobSpec& spec) {
  if (spec.is_pipeline()) return std::nullopt;
  if (const auto* shell = std::get_if<ShellCommand>(&spec.command)) return shell->text;
  return std::get<Argv>(spec.command).words;
}

void ray_keys(const RaySettings& ray, See& see) {
  see("include_dashboard", ray.include_dashboard, "Of ray: whether the head starts its web page.");
  see.if_set("address", unless_empty(ray.address),
             "Of ray: the head's address for the workers; absent: that of its node.");
  see.if_set("port", ray.port, "Of ray: the head's port; absent: a free one.", kPort);
  see.if_set("dashboard_port", ray.dashboard_port,
             "Of ray: the web page's port; absent: Ray's choice.", kPort);
  see("head_node_additional_args", ray.head_arguments,
      "Of ray: further words for `ray start --head`.");
  see("worker_node_additional_args", ray.worker_arguments,
      "Of ray: further words for `ray start --address`.");
}

void distribution_keys(const Distribution& distribution, See& see) {
  using Kind = Distribution::Kind;
  see("type", distribution.kind, "The framework.");
  see("process_count_per_instance", distribution.processes_per_node,
      "Ranks on each node; of tensorflow: on the first node, others may have one less.", kFromOne);
  see.only_if(distribution.kind == Kind::tensorflow, [&](See& see) {
    see("worker_count", distribution.workers, "Of tensorflow: the workers, on all nodes together.",
        kFromOne);
    see("parameter_server_count", distribution.parameter_servers,
        "Of tensorflow: the parameter servers, on all nodes together.");
  });
  see.only_if(distribution.kind == Kind::ray, [&](See& see) { ray_keys(distribution.ray, see); });
}

// What stands under `resources:` in a job file.
void resources_keys(const ResourceRequest& resources, See& see) {
  see("instance_count", resources.instance_count, "Nodes.", kFromOne);
  see.if_set("instance_type", unless_empty(resources.instance_type),
             "The size that the job file names.");
  see.if_set("shm_size", resources.shm_size, "Bytes of /dev/shm in its container.");
  see.if_set("docker_args", unless_empty(resources.docker_args),
             "More arguments of the container engine, as words.");
}

void asked_keys(const ResourceRequest& resources, See& see) {
  see.if_set("cpus", resources.cpus, "Logical cpus on each node.");
  see.if_set("memory", resources.memory, "Bytes of memory on each node.");
  see.if_set("gpus", resources.gpus, "GPUs on each node.");
}

// What stands under `lockstep:` in a job file, and what we added to it.
void our_keys(const JobView& job, See& see) {
  const JobSpec& spec = job.spec;
  const auto array = spec.pipeline ? unless_empty(spec.pipeline->array) : std::nullopt;
  see("snapshot", spec.snapshot, "The source tree that its ranks start in; null: an empty folder.");
  see("project", spec.project.empty() ? kDefaultProject : std::string_view(spec.project),
      "The project that it belongs to.");
  see("run_as", spec.run_as, "The account that its ranks run as.");
  see.object(
      "resources", [&](See& see) { asked_keys(spec.resources, see); },
      "What each node must have free; what is missing was not asked for.");
  see("binding", spec.binding,
      "Which of the cpus that the job holds on a node each rank may use: auto: a share of them; "
      "none: all; numa: those of a NUMA node; core: one core.");
  see("gpus_per_rank", kGpusPerRank[spec.resources.isolate_gpus ? 0 : 1],
      "isolated: each rank sees GPUs of its own; all: every rank sees all of the node's.",
      {.words = kGpusPerRank});
  see("isolated", spec.resources.isolated, "Nobody else may be on its machines.");
  see("rdma", spec.resources.rdma, "Whether its nodes must reach each other by RDMA.");
  see("labels", spec.resources.labels, "Labels that each of its nodes must have.");
  see("nodes", spec.resources.nodes, "The only nodes that may run it; empty: any of its target.");
  see("retry", spec.retry);
  see.object("checkpoint", [&](See& see) {
    see("every", spec.checkpoint.every,
        "How often the checkpoint folder is collected; 0: only at the end, in seconds");
  });
  see("limits", spec.limits);
  see("grace_period", spec.stop.grace,
      "Seconds between SIGTERM and SIGKILL; null: the launcher's.");
  see("signal", spec.stop.signal,
      "What its ranks get before the end of limits.timeout; null: nothing.");
  see("terminal", spec.terminal,
      "What the standard streams of rank 0 are: none: no input; pty: a terminal; stdin: a pipe as "
      "its standard input. Its owner may attach to the last two.");
  see("hang_after", spec.hang.after,
      "After so long without any progress of a rank its gang looks for what it waits for; 0: "
      "never.");
  see("on_hang", spec.hang.on,
      "What is done for a hang: `report` says it; `stacks` keeps the stacks of all ranks, too; "
      "`fail` and `retry` end the attempt.");
  see("core", spec.core,
      "What becomes of the core file of a rank that a signal ended: `off`: none is made; "
      "`backtrace`: the report has the stack of the thread that failed; `keep`: the file is kept, "
      "too.");
  see("keep", spec.keep, "Patterns of files that come back beside the outputs.");
  see("compute_why", words::text_of(spec.compute_why),
      "Why the launcher chose the target; empty: the submission named it.");
  see("compute_why_data", spec.compute_why, "`compute_why`, for programs.");
  see("from_checkpoint_of", unless_empty(spec.from_checkpoint_of.value),
      "The job whose newest checkpoint the first attempt begins with; null: none.");
  see("after", spec.queue.after,
      "The jobs that must have ended before it starts. Those that the reader may not see are left "
      "out.");
  see("not_before", spec.queue.not_before,
      "It does not start before this time; null: it may start at any time.");
  see("parent", unless_empty(spec.parent.value),
      "The pipeline that it is a step of, or the job that submitted it; null: none.");
  see("step", unless_empty(spec.step), "The step's name in the pipeline; null: it is no step.");
  see("array", array,
      "The indices of a job array as they were written, 0-19%4; its steps are its tasks. null: it "
      "is no array.");
  see("replaced_environment", spec.replaced_environment,
      "The environment of the submission, whose image the operator's environments.map maps to "
      "`environment`; null: no image is mapped.");
  see("array_index", spec.array ? std::optional(spec.array->index) : std::nullopt,
      "The index of this task of a job array; null: it is none.", kAnyNumber);
  see("shared", job.shared, "Its owner lets the members of the project read it.");
}

void asked_of_az_keys(const JobView& job, See& see) {
  const JobSpec& spec = job.spec;
  const Distribution& distribution = spec.distribution;
  const bool is_distributed =
      distribution.kind != Distribution::Kind::none || distribution.processes_per_node != 1;
  see("command", command_of(spec),
      "What each rank runs: a text for the shell, or a list of words that no shell reads; null: a "
      "pipeline.");
  see("compute", spec.compute.empty() ? kLocalCompute : std::string_view(spec.compute),
      "Where it runs.");
  see("environment", spec.environment, "Its environment; null: each node's PATH as it is.");
  see("environment_variables", spec.environment_variables,
      "Variables of the ranks. Only the owner sees the values.");
  see("inputs", inputs_of(spec), "Inputs: a string is a literal, an object is data.");
  see("outputs", outputs_of(job),
      "Named outputs. A pipeline's are outputs of its steps: step and output instead of type and "
      "mode. Once the files of all nodes are one tree: digest, file, problems and registered_as. "
      "If it is written to a remote datastore: written.");
  see("jobs", steps_of(job),
      "The steps of a pipeline by name, in its order; a step of a nested pipeline is named "
      "outer.inner. null: it is no pipeline, or stands in a list.");
  see.object_or_null(
      is_distributed, "distribution", [&](See& see) { distribution_keys(distribution, see); },
      "How the ranks find each other; null: one rank on each node, which do not.");
  see.object_or_null(
      !spec.is_pipeline(), "resources", [&](See& see) { resources_keys(spec.resources, see); },
      "What it asks for; null: a pipeline, whose steps ask.");
  see.object_or_null(
      spec.timeout.has_value(), "limits",
      [&](See& see) {
        see("timeout", or_none(spec.timeout), "How long an attempt may run, in seconds",
            {.more_than_low = true});
      },
      "null: none.");
  see.object(
      "queue_settings",
      [&](See& see) {
        const JobTier tier = spec.queue.tier;
        see("priority", spec.queue.priority,
            "Jobs of a higher priority are placed before all jobs of a lower one.");
        see("job_tier", tier == JobTier::unset ? std::nullopt : std::optional(tier),
            "Azure ML's tier, as the job file has it: spot means that low-priority nodes will do, "
            "the others have no meaning; null: none.");
      },
      "Its place in the queue.");
  see.object("creation_context", [&](See& see) {
    see("created_at", job.submitted, "When it was submitted.");
    see("created_by", spec.submitter, "The user who submitted it.");
  });
}

void progress_keys(const JobView& job, See& see) {
  std::vector<NamedAttempt> attempts;
  for (const AttemptView& attempt : job.attempts) attempts.push_back({&job.spec.name, &attempt});
  std::optional<Duration> silent;
  if (job.silent != Duration::zero()) silent = std::chrono::floor<seconds>(job.silent);
  see("reason", job.reason, "Why it waits, or how it failed, in one line.");
  see("reason_data", job.why, "`reason`, for programs.");
  see("queue_position", job.queue_position,
      "1: it is the next of those that wait for nodes of its target; 0: it does not wait for nodes "
      "(it runs or has ended, or waits for a time, for other jobs or for a quota).");
  see("restarts", attempts.empty() ? 0 : attempts.size() - 1, "Attempts after the first.");
  see("retry_at", job.retry_at,
      "It is not placed again before then; null: as soon as there is room.");
  see("ended_at", job.ended, "When it ended; null: not yet.");
  see("exit_code", job.report ? std::optional(job.report->exit_code) : std::nullopt,
      "What `lockstep run` exits with; null: it has not ended.");
  see("report", job.report, "How it ended; null: not yet.");
  see("attempts", attempts, "The oldest first.");
  see("warnings", unwritten_outputs(job),
      "What its owner should look at, such as an output that was never written.");
  see("silent_seconds", silent,
      "It runs, and for so long its ranks have written nothing and used no cpu; null: they did, or "
      "not for long, or that is unknown.");
}

}  // namespace

void keys(const JobView& job, See& see) {
  const JobSpec& spec = job.spec;
  see.page("job", "Job",
           "A job as `lockstep job show` prints it. Keys that Azure ML has come first and mean the "
           "same. Those who may only see a job get its name, state, place and resources; the rest "
           "is empty for them.");
  see("name", spec.name, "The job's name, unique in the launcher.");
  see("type", kJobTypes[spec.is_pipeline() ? 1 : 0],
      "A pipeline's steps are jobs of the type command.", {.words = kJobTypes});
  see("status", job.status, "Azure ML's word for its state.");
  see("display_name", spec.display_name.empty() ? spec.name : spec.display_name,
      "The name for people; the job's name when none was given.");
  see("experiment_name",
      spec.experiment_name.empty() ? std::string_view("Default")
                                   : std::string_view(spec.experiment_name),
      "The experiment that it belongs to.");
  see("description", spec.description, "What its owner says about it.");
  see("tags", spec.tags, "Tags of its owner's.");
  see("archived", job.archived,
      "Lists leave it out, unless --include-archived or --archived-only is given. A step is "
      "archived with its pipeline.");
  asked_of_az_keys(job, see);
  see.object(
      "lockstep", [&](See& see) { our_keys(job, see); },
      "What a job file says under `lockstep`, and what the launcher added.");
  progress_keys(job, see);
}

Json to_json(const std::vector<JobView>& jobs) {
  Json list;
  put(list, jobs);
  for (Json& job : list)
    for (Json& attempt : job["attempts"])
      for (Json& part : attempt["parts"]) part["rank_states"] = Json::array();
  return list;
}

}  // namespace lockstep::api
