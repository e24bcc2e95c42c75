#pragma once
// The specification of one job, after parsing and validation. Plain values: no protobuf, no YAML,
// no policy. launcher/files (YAML) or launcher/cli (flags) makes it; all other code trusts it.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/base/table.h"
#include "common/base/time.h"
#include "common/domain/data/inputs.h"
#include "common/domain/data/outputs.h"
#include "common/domain/environment/definition.h"
#include "common/domain/environment/docker_args.h"
#include "common/domain/job/array.h"
#include "common/domain/job/distribution.h"
#include "common/domain/job/keep.h"
#include "common/domain/job/queue_settings.h"
#include "common/domain/job/stop_policy.h"
#include "common/domain/ranks/bounds.h"
#include "common/domain/ranks/found.h"
#include "common/domain/ranks/limits.h"
#include "common/domain/targets/node_labels.h"
#include "common/domain/why/why.h"
#include "common/grammar/job_name.h"

namespace lockstep {

// Limits of a submission.
inline constexpr std::size_t kMaxCommandBytes = 1 << 17;
// Also after a change; a job that an older launcher took may have more.
inline constexpr std::size_t kMaxAnnotationBytes = 1u << 20;  // texts and tags together
inline constexpr std::size_t kMaxSpecEntries = 100'000;       // that are read of each of its maps
inline constexpr std::size_t kMaxJobTags = 1'000;
inline constexpr std::size_t kMaxJobInputs = 10'000;    // literals
inline constexpr Bytes kDefaultShmSize = gibibytes(2);  // as on Azure
inline constexpr int kMaxRetries = 1'000;
inline constexpr std::size_t kMaxRetryExitCodes = 255;
inline constexpr std::size_t kMaxInstanceTypeBytes = 64;
inline constexpr std::size_t kMaxNamedNodes = 1'000;  // of one job
inline constexpr std::size_t kMaxMetricLines = 100;
inline constexpr std::size_t kMaxMetricPatternBytes = 1'000;
inline constexpr std::size_t kMaxStepNameBytes = 512;  // with those of the pipelines around it
inline constexpr std::size_t kMaxChildren = 10'000;    // of one job
inline constexpr int kMaxGenerations = 8;              // a child, its child, …
inline constexpr Duration kMaxBackoff = std::chrono::hours(24);

struct ShellCommand {
  std::string text;  // run under bash, else /bin/sh
  friend bool operator==(const ShellCommand&, const ShellCommand&) = default;
};

struct Argv {
  std::vector<std::string>
      words;  // run as they are, without a shell; words[0] is looked up in the rank's PATH
  friend bool operator==(const Argv&, const Argv&) = default;
};

using Command = std::variant<ShellCommand, Argv>;

// Whether the nodes of a job must reach each other by RDMA (InfiniBand or RoCE).
enum class Rdma {
  off,        // RDMA plays no part in the choice of nodes
  preferred,  // nodes with it are tried first
  required,   // all nodes have an active port, and all are in one fabric
};
Word describe(Rdma rdma);
std::string_view to_string(Rdma rdma);
constexpr Rdma last_enumerator(Rdma) { return Rdma::required; }
std::optional<Rdma> rdma_from(std::string_view word);

// Whether the job's owner is connected to the standard streams of rank 0 while it runs (AttachMain
// of runners/attach_frames.h), and by what.
enum class TerminalKind {
  none,   // no input; its output goes to the logs alone
  pty,    // a terminal
  input,  // a pipe as its standard input
};
Word describe(TerminalKind terminal);
std::string_view to_string(TerminalKind terminal);  // "none", "pty", "stdin"

// What becomes of the core file of a rank that a signal ended (lockstep.core).
enum class CoreFile {
  off,        // none is made
  backtrace,  // the report has the stack of the thread that failed; the file goes
  keep,       // the same, and the file stays in ./logs
};
inline constexpr Bytes kMostCoreFile = gibibytes(16);  // the kernel cuts what is larger
Word describe(CoreFile core);
std::string_view to_string(CoreFile core);
std::optional<CoreFile> core_file_from(std::string_view word);

// The resources that a job requests on each of its nodes. Absent cpus, memory or gpus = all of the
// node's.
struct ResourceRequest {
  int instance_count = 1;  // nodes
  std::optional<int> cpus;
  std::optional<Bytes> memory;
  std::optional<int> gpus;
  bool isolate_gpus = false;  // lockstep.gpus_per_rank: isolated
  // For jobs in containers only.
  std::optional<Bytes> shm_size;         // of /dev/shm; absent = kDefaultShmSize
  std::vector<std::string> docker_args;  // words for `docker run`; see docker_args.h
  // Which nodes may run it.
  std::string instance_type;  // a size; "": any. Used only to choose a target
  bool isolated = false;      // nobody else is on the same machine
  Rdma rdma = Rdma::off;
  std::map<std::string, std::string> labels;  // that each node must have
  std::vector<std::string> nodes;             // names of nodes; empty: any node of the target
  static void table(auto& s, auto&& see) {
    see(field<1>, "instance_count", s.instance_count, {.low = 1, .high = kMaxNodesPerJob});
    see(field<2>, "cpus", s.cpus, {.low = 1, .high = 1 << 20});
    see(field<3>, "memory", s.memory);
    see(field<4>, "gpus", s.gpus, {.low = 0, .high = 1 << 16});
    see(field<5>, "isolate_gpus", s.isolate_gpus);
    see(field<6>, "shm", s.shm_size);
    see(field<7>, "docker_args", s.docker_args, {.count = kMaxDockerArgs});
    see(field<60>, "instance_type", s.instance_type);
    see(field<61>, "isolated", s.isolated);
    see(field<62>, "rdma", s.rdma);
    see(field<63>, "labels", s.labels, {.count = 10 * kMaxNodeLabels});
    see(field<64>, "nodes", s.nodes, {.count = 10 * kMaxNamedNodes});
  }
  friend bool operator==(const ResourceRequest&, const ResourceRequest&) = default;
};

// A kind of failure after which a job is retried; listed under lockstep.retry.on.
enum class RetryOn {
  infrastructure,  // is_infrastructure: the machines are at fault
  node_lost,
  runner_lost,
  out_of_memory,
  signal,
  timeout,
  exit_code,  // a rank exited with any non-zero code, or called MPI_Abort
};
Word describe(RetryOn on);
std::string_view to_string(RetryOn on);
std::optional<RetryOn> retry_on_from(std::string_view word);

// When a new attempt may be placed after an attempt that was on a lost node.
enum class OnLost {
  immediately,
  after_fence,  // when none of its ranks can run any more, because their lease has ended
};
Word describe(OnLost on_lost);
std::string_view to_string(OnLost on_lost);

struct RetryPolicy {
  int max = 3;  // how many retries may be charged
  std::vector<RetryOn> on = {RetryOn::infrastructure};
  std::vector<int> exit_codes;    // also retried: exactly these exit codes
  Duration backoff = seconds(1);  // before the first charged retry; doubles with each further one
  OnLost on_lost = OnLost::immediately;
  // `max` is an older field, of JobSpec.
  static void table(auto& s, auto&& see) {
    see(field<1>, "on", s.on, {.count = kMaxRetryExitCodes});
    see(field<2>, "exit_codes", s.exit_codes, {.low = 1, .high = 255, .count = kMaxRetryExitCodes});
    see(field<3>, "backoff", s.backoff);
    see(field<4>, "on_lost", s.on_lost);
  }
  friend bool operator==(const RetryPolicy&, const RetryPolicy&) = default;
};

struct CheckpointPolicy {
  Duration every = seconds(60);  // how often to collect while ranks run; 0 = only at their end
  friend bool operator==(const CheckpointPolicy&, const CheckpointPolicy&) = default;
};

struct PipelineSpec;  // pipeline.h

// The steps of a pipeline, which all copies of its spec share; empty: the job is a command job.
class SharedPipeline {
 public:
  SharedPipeline() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): used like an optional
  SharedPipeline(PipelineSpec pipeline);
  explicit operator bool() const { return pipeline_ != nullptr; }
  const PipelineSpec& operator*() const { return *pipeline_; }
  const PipelineSpec* operator->() const { return pipeline_.get(); }
  friend bool operator==(const SharedPipeline& a, const SharedPipeline& b);

 private:
  std::shared_ptr<const PipelineSpec> pipeline_;
};

struct JobSpec {
  std::string name;  // unique; the job's id. Empty in a submission = the launcher generates one
  std::string display_name;
  std::string experiment_name;  // default "Default"
  std::string description;
  std::map<std::string, std::string> tags;
  std::string compute;  // name of a compute target; "" = "local"
  Command command;
  std::map<std::string, std::string> environment_variables;
  std::map<std::string, std::string> inputs;  // literal inputs, already substituted into command
  // command and environment_variables still hold ${{inputs.NAME}} of data inputs and
  // ${{outputs.NAME}}, because paths differ by node.
  std::vector<OutputSpec> outputs;
  Distribution distribution;
  Binding binding = Binding::automatic;
  ResourceRequest resources;
  std::optional<Duration> timeout;  // of one attempt's running time
  RetryPolicy retry;
  std::optional<Digest> snapshot;  // root of the captured source tree; absent = an empty directory
  std::string submitter;           // user name of the person
  std::string project = {};        // the job's project; "" = the default one
  std::string run_as;              // user name, resolved on each node
  CheckpointPolicy checkpoint;
  std::optional<EnvironmentSpec> environment;  // absent: each node's PATH as it is
  LimitRequest limits = {};
  std::vector<std::string> keep = {};  // patterns of further files to collect: see keep.h
  // The first attempt begins with the newest checkpoint of this job; "": with an empty folder.
  JobId from_checkpoint_of = {};
  // Why the launcher chose this target; none: the submission named it. A client cannot set it.
  Why compute_why = {};
  QueueSettings queue = {};
  std::vector<DataInput> data = {};  // their names differ from those of `inputs`
  // A pipeline has no command: its steps are jobs with their own specs.
  SharedPipeline pipeline = {};
  // The job that submitted this one: a pipeline, of which this is `step`; or, where `step` is "",
  // the attempt `parent_attempt` of a running job, whose child this is. "": a person did. A client
  // cannot set them.
  JobId parent = {};
  std::string step = {};
  std::uint32_t parent_attempt = 0;
  std::optional<ArrayTask> array = {};  // it is a task of a job array
  // The environment of the submission, whose image the operator's environments.map maps to
  // `environment`. A client cannot set it.
  std::optional<EnvironmentSpec> replaced_environment = {};
  StopPolicy stop = {};
  // Of a command job of its own. It is not tried again once rank 0 may have read.
  TerminalKind terminal = TerminalKind::none;
  HangPolicy hang = {};
  CoreFile core = CoreFile::off;
  // Numbers in what its ranks print (lockstep.metrics): the metric, and the pattern of RE2 that
  // finds its value in a line (launcher/metrics/sources/line_metrics.h).
  std::map<std::string, std::string> metric_lines = {};
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name);
    see(field<2>, "display_name", s.display_name);
    see(field<3>, "experiment_name", s.experiment_name);
    see(field<4>, "description", s.description, {.bytes = kMaxAnnotationBytes});
    see(field<5>, "tags", s.tags, {.count = kMaxSpecEntries});
    see(field<6>, "compute", s.compute);
    see(by_hand<7, 8>, "command", s.command);
    see(field<9>, "environment_variables", s.environment_variables, {.count = kMaxSpecEntries});
    see(field<10>, "inputs", s.inputs, {.count = kMaxSpecEntries});
    see(field<18>, "outputs", s.outputs, {.count = kMaxOutputs});
    see(field<11>, "distribution", s.distribution);
    see(field<61>, "worker_count", s.distribution.workers, kRankRule);
    see(field<62>, "parameter_server_count", s.distribution.parameter_servers, kRankRule);
    see(field<63>, "ray", s.distribution.ray, {.unless_empty = true});
    see(field<64>, "binding", s.binding);
    see(field<12>, "resources", s.resources);
    see(field<13>, "timeout", s.timeout);
    see(field<14>, "retry_max", s.retry.max, {.low = 0, .high = 1'000'000});
    see(by_hand<19>, "retry", s.retry);
    see(field<15>, "snapshot", s.snapshot);
    see(field<16>, "submitter", s.submitter);
    see(field<31>, "project", s.project);
    see(field<17>, "run_as", s.run_as);
    see(field<20>, "checkpoint_every", s.checkpoint.every);
    see(field<30>, "environment", s.environment);
    see(field<35>, "limits", s.limits, {.unless_empty = true});
    see(field<45>, "keep", s.keep, {.count = kMaxKeepPatterns});
    see(field<46>, "from_checkpoint_of", s.from_checkpoint_of, {.bytes = kMaxJobNameBytes});
    see(reason_fields<60, 810>, "compute_why", s.compute_why);
    see(field<70>, "priority", s.queue.priority, {.since = "old"});
    see(field<71>, "job_tier", s.queue.tier, {.since = "old"});
    see(field<72>, "after", s.queue.after, {.count = kMaxAfter});
    see(field<73>, "not_before", s.queue.not_before);
    see(field<74>, "delay", s.queue.delay);
    see(field<75>, "data", s.data, {.count = kMaxDataInputs});
    see(by_hand<76>, "pipeline", s.pipeline);
    see(field<77>, "parent", s.parent, {.bytes = kMaxJobNameBytes});
    see(field<78>, "step", s.step, {.bytes = kMaxStepNameBytes});
    see(field<66>, "parent_attempt", s.parent_attempt);
    see(field<79>, "array", s.array);
    see(field<80>, "replaced_environment", s.replaced_environment);
    see(field<373>, "grace", s.stop.grace);
    see(field<374>, "early_signal", s.stop.signal);
    see(field<650>, "terminal", s.terminal);
    see(field<700>, "hang_after", s.hang.after);
    see(field<701>, "on_hang", s.hang.on);
    see(field<702>, "core", s.core);
    see(field<703>, "metric_lines", s.metric_lines, {.count = kMaxMetricLines});
  }
  static Status check(const JobSpec& spec);
  friend bool operator==(const JobSpec&, const JobSpec&) = default;

  bool is_pipeline() const { return static_cast<bool>(pipeline); }
  bool in_container() const {
    return environment && std::holds_alternative<DockerEnvironment>(environment->definition);
  }
  bool is_child() const { return !parent.value.empty() && step.empty(); }
  int world_size() const { return first_rank_on(resources.instance_count); }
  // A node's ranks are consecutive. With tensorflow, the first nodes may have one more.
  int first_rank_on(int node_rank) const;
  int ranks_on(int node_rank) const {
    return first_rank_on(node_rank + 1) - first_rank_on(node_rank);
  }
  int node_of_rank(int rank) const;
};

// The bytes of its texts and tags.
std::size_t annotation_bytes(const JobSpec& spec);

// All checks that do not depend on the cluster. Errors name the field.
Status validate(const JobSpec& spec);
// The first error of each field, or of each group of fields that are checked together.
std::vector<Error> errors_of(const JobSpec& spec);

}  // namespace lockstep
