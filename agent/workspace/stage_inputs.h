#pragma once
// Makes the data inputs of an attempt ready on this node. A tree that is only read is left to the
// runner to mount; a private copy is put into the working directory; a path that is used in place
// must exist for the job's user.

#include <functional>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/domain/runners/assignment.h"
#include "common/domain/runners/workspace_plan.h"
#include "common/io/attempt/attempt_dir.h"
#include "common/io/process.h"
#include "common/snapshot/checkout/materialize.h"

namespace lockstep::agent {

struct InputParts {
  const std::vector<DataInput>& inputs;
  const io::AttemptDir& directory;
  const std::string& working;  // the working directory, or the upper directory of its overlay
  const io::User& user;        // the user who reads the inputs
  bool can_mount;              // the runner, or a container's engine, can mount trees
  bool in_container;           // the ranks do not see the node's paths
  // The path of a tree on this node, fetched and written out if need be.
  std::function<Result<std::string>(const Digest& root)> tree;
  std::function<void(const std::string&)> tell;  // receives progress texts
  // Whether there is room for a private copy of the tree at this path, or of so much.
  std::function<Status(const std::string& tree)> admit_copy;
  std::function<Status(Bytes size)> admit;
};

// The inputs that the runner has to mount.
struct MountedInputs {
  std::vector<StagedInput> trees;
  std::vector<PlacedInput> placed;
};

// Stages the inputs. Errors begin with "input 'NAME'". It can be repeated.
Result<MountedInputs> stage_inputs(const InputParts& parts);

}  // namespace lockstep::agent
