#pragma once
// The blobs that the launcher's state refers to: garbage collection keeps them, a backup copies
// them, and fsck looks for them. A new kind of fact that names a blob must be added here.

#include <functional>
#include <string>
#include <vector>

#include "common/base/digest.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

struct Root {
  Digest tree;       // the digest of a directory object; stands for everything below it
  const JobId& job;  // the job that refers to it; empty: a registered environment does
  std::string what;  // "its source", "./outputs of attempt 1 on node n2"
};
// "job train, its source"
std::string describe(const Root& root);

void each_root(const State& state, const std::function<void(const Root&)>& take);

using TakeTree = std::function<void(const Digest& tree)>;
// The trees that a reader of the job may read: its source, the build context of its image, and the
// checkpoints and outputs of its attempts, including those that they started from.
void each_tree_of(const Job& job, const TakeTree& take);
// The trees that a node needs for its assigned parts, and those that it reported for them.
void each_tree_of(const State& state, const Node& node, const TakeTree& take);
// The source trees of the user's newest jobs, each once, at most `most`.
std::vector<Digest> newest_sources(const State& state, const std::string& user, std::size_t most);
// The source trees of this job and of its newest children, at most `most`.
std::vector<Digest> sources_of_family(const State& state, const JobId& job, std::size_t most);

}  // namespace lockstep::launcher
