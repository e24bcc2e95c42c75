#pragma once
// A job's outputs: those that its file declares (OutputSpec), where its ranks write them, and what
// a node collected after its ranks ended (CollectedOutput). `./outputs`, `./logs` and the
// checkpoint are kept for every job, named outputs only for jobs that declare them. A later attempt
// of the job begins with the checkpoint (CheckpointSource).

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/digest.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/time.h"

namespace lockstep {

enum class OutputType { uri_folder, uri_file };
std::string_view to_string(OutputType type);

enum class OutputMode { rw_mount, upload };  // Azure's words; both are collected at the end
std::string_view to_string(OutputMode mode);

struct OutputSpec {
  std::string name;
  OutputType type = OutputType::uri_folder;
  OutputMode mode = OutputMode::rw_mount;
  friend bool operator==(const OutputSpec&, const OutputSpec&) = default;
};
inline constexpr std::size_t kMaxOutputs = 100;
inline constexpr std::size_t kMaxOutputNameBytes = 100;

// 1 to kMaxOutputNameBytes letters, digits and '_', not a digit first: part of paths and variables.
bool valid_output_name(const std::string& name);
// At most kMaxOutputs, each with a valid name of its own.
Status validate(const std::vector<OutputSpec>& outputs);

// ---- where ranks write -------------------------------------------------------------------------
// Folders of the working directory, on every node. No snapshot contains `.lockstep`.
inline constexpr std::string_view kOutputsFolder = "outputs";
inline constexpr std::string_view kLogsFolder = "logs";
inline constexpr std::string_view kReservedFolder = ".lockstep";
inline constexpr std::string_view kCheckpointFolder = ".lockstep/checkpoint";
std::string named_output_folder(const std::string& name);  // ".lockstep/outputs/<name>"

// Name -> what a rank writes to: the folder, or for uri_file a file in it that has its name.
std::map<std::string, std::string> output_paths(const std::vector<OutputSpec>& outputs,
                                                const std::string& working_directory);

// "${{outputs.NAME}}", as launcher/spec leaves it in commands and variables for the node.
std::string output_expression(std::string_view name);
// `text` with the expression of each of `paths` replaced.
std::string put_in_outputs(std::string text, const std::map<std::string, std::string>& paths);

// ---- what came back ----------------------------------------------------------------------------
enum class OutputKind {
  outputs,
  logs,
  named,
  checkpoint,
  kept,  // files elsewhere in the working directory that the job's `keep` names
};

struct CollectedOutput {
  OutputKind kind = OutputKind::outputs;
  std::string name;            // of a named one
  std::optional<Digest> tree;  // in the launcher's blob store; absent: empty, or not collected
  std::uint64_t files = 0;     // symlinks are not counted
  Bytes size;                  // of the files
  std::vector<std::string> problems;  // what could not be collected, and why
  std::uint64_t order = 0;            // of a part's checkpoints: the newer has the greater
  friend bool operator==(const CollectedOutput&, const CollectedOutput&) = default;
};
inline constexpr std::size_t kMaxCollectedOutputs = kMaxOutputs + 4;
inline constexpr std::size_t kMaxOutputProblems = 20;  // then "and 7 more"

// "./outputs", "./logs", "output 'model'", "checkpoint", "kept files".
std::string describe(OutputKind kind, const std::string& name);

// ---- what did not come back --------------------------------------------------------------------
// New and changed files of one node's working directory that belong to no output: they are deleted
// with the attempt. Symlinks, empty folders and caches of tools (__pycache__) do not count.
struct NotKept {
  // Names of the top level, the largest first, written by quoted_name; a folder's name ends in '/'.
  std::vector<std::string> names;
  std::uint64_t more = 0;  // further names of the top level
  std::uint64_t files = 0;
  Bytes size;
  bool at_least = false;  // the node did not look at everything: there may be more
  // Patterns of the job's `keep` that match no new or changed file here, as their indexes.
  std::vector<std::uint32_t> unmatched;
  friend bool operator==(const NotKept&, const NotKept&) = default;
};
inline constexpr std::size_t kMaxNotKeptNames = 10;
inline constexpr std::size_t kMaxNotKeptNameBytes = 100;

// ---- what an attempt begins with ---------------------------------------------------------------
struct NodeTree {
  int node_rank = 0;
  Digest root;
  friend bool operator==(const NodeTree&, const NodeTree&) = default;
};

// The newest checkpoint of a job: `trees` has what each node of that attempt changed, by node rank,
// and `base` is the checkpoint that the attempt itself began with. Every node of a later attempt
// begins with `trees` merged over `base`.
struct CheckpointSource {
  std::uint32_t attempt = 0;  // that saved it
  Instant saved;              // when the launcher had the newest of the trees
  std::optional<Digest> base;
  std::vector<NodeTree> trees;
  JobId job = {};  // whose attempt that is; "": the same job's
  friend bool operator==(const CheckpointSource&, const CheckpointSource&) = default;
};

}  // namespace lockstep
