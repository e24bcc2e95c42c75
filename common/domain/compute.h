#pragma once
// Compute targets: the names that `compute:` in a job file refers to. A target's type says where
// its nodes come from. The launcher's state (launcher/core) holds the target's nodes and the jobs
// that wait for it.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"

namespace lockstep {

enum class ComputeType {
  local,           // an alias: it has the nodes of the target "local"
  virtualmachine,  // it has nodes of its own
};
// The word in files and tables: "virtualmachine".
std::string_view to_string(ComputeType type);

// The target that every launcher has from the start.
inline constexpr std::string_view kLocalCompute = "local";

// The end of the error for a job that names a target that does not exist.
inline constexpr std::string_view kHowToChooseCompute =
    "choose one with `compute:` in the file, --set compute=NAME, --compute NAME or `lockstep "
    "config "
    "set defaults.compute=NAME`";

inline constexpr std::size_t kMaxComputes = 1'000;  // of one launcher
inline constexpr std::size_t kMinComputeNameBytes = 3;
inline constexpr std::size_t kMaxComputeNameBytes = 24;
inline constexpr std::size_t kMaxComputeTextBytes = 4'096;  // of a description, location or tag
inline constexpr std::size_t kMaxComputeTags = 50;

struct ComputeSpec {
  std::string name;
  ComputeType type = ComputeType::local;
  std::string description;
  std::string location;  // a word for people; nothing depends on it
  std::map<std::string, std::string> tags;
  friend bool operator==(const ComputeSpec&, const ComputeSpec&) = default;
};
// Azure's rule: 3 to 24 letters, digits and '-', beginning with a letter. invalid_argument: the
// message says what is wrong with the name.
Status check_compute_name(std::string_view name);
// Checks the name and the limits of all texts.
Status check(const ComputeSpec& spec);
// "azureml:gpu" and "gpu" are both "gpu".
std::string_view without_azureml(std::string_view reference);

// ---- requests ----------------------------------------------------------------------------------

// The launcher answers with a ComputesReply that holds the new target. Creating an identical target
// again succeeds and changes nothing; a different target under a taken name is refused.
struct CreateCompute {
  ComputeSpec spec;
  friend bool operator==(const CreateCompute&, const CreateCompute&) = default;
};
// Description, location and tags become these; the type cannot change.
struct UpdateCompute {
  ComputeSpec spec;
  friend bool operator==(const UpdateCompute&, const UpdateCompute&) = default;
};
// Refused while the target has nodes, or jobs that have not ended. Answered by Done.
struct DeleteCompute {
  std::string name;
  friend bool operator==(const DeleteCompute&, const DeleteCompute&) = default;
};
// Answered by ComputesReply.
struct ListComputes {
  std::string name;  // only this one; "": all. A not_found error suggests the nearest name.
  friend bool operator==(const ListComputes&, const ListComputes&) = default;
};

// ---- views -------------------------------------------------------------------------------------

struct ComputeView {
  struct Nodes {
    std::int64_t total = 0;
    std::int64_t idle = 0;         // can take work and have none
    std::int64_t busy = 0;         // have work
    std::int64_t unavailable = 0;  // have no work and cannot take any: LOST, drained, …
    friend bool operator==(const Nodes&, const Nodes&) = default;
  };
  ComputeSpec spec;
  std::string pool;  // the target that owns the nodes: its own name, or "local" for an alias
  Instant created;   // ns = 0: created with the launcher
  std::string created_by;
  Nodes nodes;
  std::int64_t queued_jobs = 0;   // jobs for this target that wait
  std::int64_t running_jobs = 0;  // jobs for this target that are placed and have not ended
  friend bool operator==(const ComputeView&, const ComputeView&) = default;
};
struct ComputesReply {  // by name; "local" first
  std::vector<ComputeView> computes;
  friend bool operator==(const ComputesReply&, const ComputesReply&) = default;
};

}  // namespace lockstep
