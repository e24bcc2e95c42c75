#pragma once
// The outputs of a job: those that its file asks for (OutputSpec), where its ranks write them, and
// what a node collected after its ranks ended (CollectedOutput). `./outputs`, `./logs` and the
// checkpoint of every job are kept; named outputs only if the job asks for them. A later attempt of
// the job begins with the checkpoint (CheckpointSource).

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
#include "common/base/table.h"
#include "common/base/time.h"
#include "common/domain/data/datastore.h"
#include "common/domain/data/inputs.h"
#include "common/domain/data/output_asset.h"
#include "common/domain/data/output_name.h"
#include "common/domain/ranks/bounds.h"
#include "common/domain/why/why.h"
#include "common/grammar/job_name.h"

namespace lockstep {

enum class OutputType { uri_folder, uri_file };
Word describe(OutputType type);
std::string_view to_string(OutputType type);

enum class OutputMode { rw_mount, upload };  // Azure's words; both are collected at the end
Word describe(OutputMode mode);
std::string_view to_string(OutputMode mode);

struct OutputSpec {
  std::string name;
  OutputType type = OutputType::uri_folder;
  OutputMode mode = OutputMode::rw_mount;
  // "azureml://datastores/…": where the output is written to as well; "": only the launcher.
  std::string path = {};
  std::optional<DatastorePath> place = std::nullopt;  // the place that the launcher found for
                                                      // `path`
  // Says the launcher: `path` is in the remote of this datastore, and the launcher writes the
  // merged tree to it.
  std::string remote = {};
  std::optional<OutputAsset> asset = std::nullopt;
  // The type that the job file gives, for people: tables and models are collected as folders.
  std::optional<InputType> declared = std::nullopt;
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name);
    see(field<2>, "type", s.type);
    see(field<3>, "mode", s.mode);
    see(field<4>, "path", s.path);
    see(field<5>, "place", s.place);
    see(field<7>, "remote", s.remote);
    see(field<6>, "asset", s.asset);
    see(field<8>, "declared", s.declared);
  }
  friend bool operator==(const OutputSpec&, const OutputSpec&) = default;
};
// "custom_model": as the job file has it, else the type as which it is collected.
std::string_view type_word(const OutputSpec& output);
inline constexpr std::size_t kMaxOutputs = 100;

// Checks that there are at most kMaxOutputs, with valid and different names.
Status validate(const std::vector<OutputSpec>& outputs);
bool registers_outputs(const std::vector<OutputSpec>& outputs);
bool writes_to_remotes(const std::vector<OutputSpec>& outputs);

// ---- where ranks write -------------------------------------------------------------------------
// Folders of the working directory, on every node.
inline constexpr std::string_view kOutputsFolder = "outputs";
inline constexpr std::string_view kLogsFolder = "logs";
inline constexpr std::string_view kCheckpointFolder = ".lockstep/checkpoint";
std::string named_output_folder(const std::string& name);  // ".lockstep/outputs/<name>"

// The paths of outputs by name, to which a rank writes: the output's folder, or for uri_file a file
// in it with the output's name.
std::map<std::string, std::string> output_paths(const std::vector<OutputSpec>& outputs,
                                                const std::string& working_directory);

// The path of an output's place, with ${{name}} and ${{output_name}} replaced.
std::string path_in_place(const OutputSpec& output, const std::string& job);
// The `path` of the output with the same expressions replaced.
std::string path_of(const OutputSpec& output, const std::string& job);

// "${{outputs.NAME}}". launcher/files leaves this expression in commands and variables; the node
// replaces it.
std::string output_expression(std::string_view name);
// Returns `text` with the expression of each of `paths` replaced.
std::string put_in_outputs(std::string text, const std::map<std::string, std::string>& paths);

// ---- what came back ----------------------------------------------------------------------------
enum class OutputKind {
  outputs,
  logs,
  named,
  checkpoint,
  kept,  // files elsewhere in the working directory that the job's `keep` names
};
Word describe(OutputKind kind);
std::string_view to_string(OutputKind kind);  // the kind in words: "outputs", …
constexpr OutputKind last_enumerator(OutputKind) { return OutputKind::kept; }

inline constexpr std::size_t kMaxCollectedOutputs = kMaxOutputs + 4;
// the most problems of one output that are listed; the last line then says "and 7 more"
inline constexpr std::size_t kMaxOutputProblems = 20;
inline constexpr std::size_t kMaxCollectedProblems = 1'000;  // the most problems that are read for
                                                             // one output

struct CollectedOutput {
  OutputKind kind = OutputKind::outputs;
  std::string name;            // the name of a named output
  std::optional<Digest> tree;  // its tree in the launcher's blob store; absent: it is empty, or was
                               // not collected
  std::uint64_t files = 0;     // symlinks are not counted
  Bytes size;                  // the size of all files
  std::vector<std::string> problems;  // the files that could not be collected, and why
  std::uint64_t order = 0;            // orders the checkpoints of one part: the newer one has the
                                      // greater order
  // While the ranks run: the files that grow and are therefore sent piece by piece
  // (common/snapshot/live/pieces.h). `tree` does not have them, except for an older complete
  // version.
  std::optional<Digest> pieces = std::nullopt;
  std::uint64_t partial = 0;  // how many files in `pieces` were being written when they were sent
  static void table(auto& s, auto&& see) {
    see(field<1>, "kind", s.kind);
    see(field<2>, "name", s.name);
    see(field<3>, "tree", s.tree);
    see(field<4>, "files", s.files);
    see(field<5>, "size", s.size);
    see(field<6>, "problems", s.problems, {.count = kMaxCollectedProblems});
    see(field<7>, "order", s.order);
    see(field<77>, "pieces", s.pieces);
    see(field<78>, "partial", s.partial);
  }
  static Status check(const CollectedOutput& output);
  friend bool operator==(const CollectedOutput&, const CollectedOutput&) = default;
};
// Whether any file of it is in the launcher's blob store.
inline bool has_files(const CollectedOutput& output) { return output.tree || output.pieces; }
// Passes each tree that holds blobs of the output to `take`.
template <typename Take>
void each_tree(const CollectedOutput& output, const Take& take) {
  if (output.tree) take(*output.tree);
  if (output.pieces) take(*output.pieces);
}

// "./outputs", "./logs", "output 'model'", "checkpoint", "kept files".
std::string describe(OutputKind kind, const std::string& name);

// A named output of a whole job: the trees of its nodes merged into one.
struct MergedOutput {
  std::string name;
  std::optional<Digest> tree;  // absent: no rank wrote to the output, or `problems` say why there
                               // is no tree
  std::string file;            // name of the one file in `tree`; "": the output is a folder
  // The paths at which nodes have different files, and the files that could not be merged.
  std::vector<std::string> problems;  // the first kMaxOutputProblems problems
  // "net:3": the data or model that it was registered as, by this job or before; "": it was not.
  std::string registered = {};
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name);
    see(field<2>, "tree", s.tree);
    see(field<3>, "file", s.file);
    see(field<4>, "problems", s.problems, {.count = kMaxOutputProblems + 1, .cut = Cut::middle});
    see(field<5>, "registered", s.registered);
  }
  friend bool operator==(const MergedOutput&, const MergedOutput&) = default;
};

// A merged output that the launcher writes to a remote datastore.
struct OutputWrite {
  enum class State { waiting, written, given_up };
  std::string output;  // the output's name
  std::string to;      // "azureml://datastores/…"
  State state = State::waiting;
  std::uint32_t tries = 0;  // the number of tries that failed
  std::string why = {};     // only in views: the text of why_data
  // The time at which it was written or given up; while it waits, the time of the next try (ns = 0:
  // at once).
  Instant at = {};
  Why why_data = {};  // why the last try failed
  friend bool operator==(const OutputWrite&, const OutputWrite&) = default;
};
std::string_view to_string(OutputWrite::State state);
inline constexpr std::size_t kMaxWriteFailureBytes = 1000;

// ---- what did not come back --------------------------------------------------------------------
inline constexpr std::size_t kMaxNotKeptNames = 10;
inline constexpr std::size_t kMaxNotKeptNameBytes = 100;

// New and changed files in one node's working directory that belong to no output, so they are
// deleted with the attempt. Symlinks, empty folders and caches of tools (__pycache__) do not count.
struct NotKept {
  // Names at the top level, the largest first, printed by quoted_name; a folder's ends with '/'.
  std::vector<std::string> names;
  std::uint64_t more = 0;  // how many more names there are at the top level
  std::uint64_t files = 0;
  Bytes size;
  bool at_least = false;  // the node did not look at everything: there may be more
  // Indexes of the patterns in the job's `keep` that match no new or changed file on this node.
  std::vector<std::uint32_t> unmatched;
  static void table(auto& s, auto&& see) {
    see(field<1>, "names", s.names, {.bytes = kMaxNotKeptNameBytes, .count = kMaxNotKeptNames});
    see(field<2>, "more", s.more);
    see(field<3>, "files", s.files);
    see(field<4>, "size", s.size);
    see(field<5>, "at_least", s.at_least);
    see(field<6>, "unmatched", s.unmatched, {.count = kMaxKeepPatterns});
  }
  friend bool operator==(const NotKept&, const NotKept&) = default;
};

// ---- what an attempt begins with ---------------------------------------------------------------
struct NodeTree {
  int node_rank = 0;
  Digest root;
  static void table(auto& s, auto&& see) {
    see(field<1>, "node_rank", s.node_rank, kNodeRankRule);
    see(field<2>, "root", s.root);
  }
  friend bool operator==(const NodeTree&, const NodeTree&) = default;
};

// The checkpoint of the newest attempt that saved one, with one tree for each node rank. All nodes
// of a later attempt begin with `trees` merged over `base`. The saving attempt itself began with
// `base`, so a difference from `base` was made by its ranks.
struct CheckpointSource {
  std::uint32_t attempt = 0;  // number of the attempt that saved it
  Instant saved;              // the time at which the launcher had received the newest of the trees
  std::optional<Digest> base;
  std::vector<NodeTree> trees;
  JobId job = {};  // the job of that attempt; "": the same job
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "saved", s.saved);
    see(field<3>, "base", s.base);
    see(field<4>, "trees", s.trees, {.count = kMaxNodesPerJob});
    see(field<5>, "job", s.job, {.bytes = kMaxJobNameBytes});
  }
  friend bool operator==(const CheckpointSource&, const CheckpointSource&) = default;
};

}  // namespace lockstep
