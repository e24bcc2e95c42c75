#pragma once
// What a person asks for: one command job, after parsing and validation. Plain values: no protobuf,
// no YAML, no policy. Made by launcher/spec (YAML) or launcher/cli (flags), trusted inside.

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/base/time.h"
#include "common/domain/outputs.h"

namespace lockstep {

struct ShellCommand {
  std::string text;  // run under bash, else /bin/sh
  friend bool operator==(const ShellCommand&, const ShellCommand&) = default;
};

struct Argv {
  std::vector<std::string>
      words;  // run exactly, no shell; words[0] is looked up in the rank's PATH
  friend bool operator==(const Argv&, const Argv&) = default;
};

using Command = std::variant<ShellCommand, Argv>;

struct Distribution {
  enum class Kind { none, mpi, pytorch };
  Kind kind = Kind::none;
  int processes_per_node = 1;  // ranks on each node, >= 1
  friend bool operator==(const Distribution&, const Distribution&) = default;
};

// What a job asks for on each of its nodes. Absent cpus/memory/gpus = everything the node has.
struct ResourceRequest {
  int instance_count = 1;  // nodes
  std::optional<int> cpus;
  std::optional<Bytes> memory;
  std::optional<int> gpus;
  bool isolate_gpus = false;  // lockstep.gpus_per_rank: isolated
  friend bool operator==(const ResourceRequest&, const ResourceRequest&) = default;
};

struct RetryPolicy {
  int max = 3;  // further attempts after an infrastructure failure
  friend bool operator==(const RetryPolicy&, const RetryPolicy&) = default;
};

struct JobSpec {
  std::string name;  // unique; the job's id. Empty in a submission = the launcher generates one
  std::string display_name;
  std::string experiment_name;  // default "Default"
  std::string description;
  std::map<std::string, std::string> tags;
  std::string compute;  // "" or "local"
  Command command;
  std::map<std::string, std::string> environment_variables;
  std::map<std::string, std::string> inputs;  // literal inputs, already substituted into command
  // ${{outputs.NAME}} still stands in command and environment_variables: each node has its paths.
  std::vector<OutputSpec> outputs;
  Distribution distribution;
  ResourceRequest resources;
  std::optional<Duration> timeout;  // of one attempt's running time
  RetryPolicy retry;
  std::optional<Digest> snapshot;  // root of the captured source tree; absent = an empty directory
  std::string submitter;           // user name of the person
  std::string run_as;              // user name, resolved on each node
  friend bool operator==(const JobSpec&, const JobSpec&) = default;

  int world_size() const { return resources.instance_count * distribution.processes_per_node; }
};

// Named bounds of a submission.
// Azure allows 255; 240 leaves room for ".<attempt>" in a file name.
inline constexpr std::size_t kMaxJobNameBytes = 240;
inline constexpr int kMaxNodesPerJob = 10'000;
inline constexpr int kMaxRanksPerNode = 1'024;
inline constexpr std::size_t kMaxEnvironmentBytes = 1 << 20;
inline constexpr std::size_t kMaxCommandBytes = 1 << 17;

// A name is 1-240 characters of [A-Za-z0-9_-], starting with a letter or a digit.
Status validate_job_name(const std::string& name);

// Everything that can be said without knowing the cluster. Errors name the field.
Status validate(const JobSpec& spec);

std::string_view to_string(Distribution::Kind kind);

}  // namespace lockstep
