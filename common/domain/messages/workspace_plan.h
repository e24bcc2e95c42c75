#pragma once
// Tells a runner what the agent staged, and how to set up the working directory from it.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/data/inputs.h"
#include "common/domain/data/outputs.h"
#include "common/domain/environment/definition.h"

namespace lockstep {

// A tree to be mounted read-only at input_folder(name) in the working directory.
struct StagedInput {
  std::string name;
  std::string tree;  // path of the immutable tree
  friend bool operator==(const StagedInput&, const StagedInput&) = default;
};

// Files of a datastore's directory, to be opened as the job's user and mounted there.
struct PlacedInput {
  std::string name;
  DatastorePath place;
  bool is_writable = false;
  std::string file;  // the name of the file at that path; "": it is a folder
  friend bool operator==(const PlacedInput&, const PlacedInput&) = default;
};

struct WorkspacePlan {
  enum class Mode {
    overlay,         // root: mount overlay(lower = tree, upper, overlay-work) on code/
    overlay_userns,  // ordinary user: the same in the runner's own user namespace
    ready,           // code/ is already a private copy or reflink; nothing to mount
  };
  Mode mode = Mode::ready;
  std::string tree;         // immutable materialised snapshot (lower); "" = empty directory
  std::string mount_point;  // common path to bind code/ to; "" = ranks use the attempt's own code/
  std::optional<CollectedOutput> restored;    // the checkpoint in the working directory
  std::optional<Activation> activation = {};  // of the job's environment
  std::vector<StagedInput> inputs = {};
  std::vector<PlacedInput> placed = {};
  friend bool operator==(const WorkspacePlan&, const WorkspacePlan&) = default;
};

}  // namespace lockstep
