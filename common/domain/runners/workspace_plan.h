#pragma once
// Describes the files that the agent staged, and how a runner sets up the working directory from
// them.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/table.h"
#include "common/domain/data/inputs.h"
#include "common/domain/data/outputs.h"
#include "common/domain/environment/definition.h"

namespace lockstep {

inline constexpr std::size_t kMostStagedInputs = 10'000;  // the most inputs of one job

// A tree to be mounted read-only at input_folder(name) in the working directory.
struct StagedInput {
  std::string name;
  std::string tree;  // path of the immutable tree
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name);
    see(field<2>, "tree", s.tree);
  }
  friend bool operator==(const StagedInput&, const StagedInput&) = default;
};

// Files of a datastore's directory, to be opened as the job's user and mounted there.
struct PlacedInput {
  std::string name;
  DatastorePath place;
  bool is_writable = false;
  std::string file;  // the name of the file at that path; "": it is a folder
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name);
    see(field<2>, "place", s.place);
    see(field<3>, "is_writable", s.is_writable);
    see(field<4>, "file", s.file);
  }
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
  std::optional<Activation> activation = {};  // the activation of the job's environment
  std::vector<StagedInput> inputs = {};
  std::vector<PlacedInput> placed = {};
  static void table(auto& s, auto&& see) {
    see(by_hand<1>, "version");  // the version of the file
    see(field<2>, "mode", s.mode);
    see(field<3>, "tree", s.tree);
    see(field<4>, "mount_point", s.mount_point);
    see(field<5>, "restored", s.restored);
    see(field<30>, "activation", s.activation);
    see(field<31>, "inputs", s.inputs, {.count = kMostStagedInputs});
    see(field<32>, "placed", s.placed, {.count = kMostStagedInputs});
  }
  friend bool operator==(const WorkspacePlan&, const WorkspacePlan&) = default;
};

Word describe(WorkspacePlan::Mode mode);

}  // namespace lockstep
