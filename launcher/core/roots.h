#pragma once
// The blobs that the launcher's state refers to: garbage collection keeps them, a backup copies
// them, and fsck checks them. A new kind of fact that names a blob adds it here.

#include <functional>
#include <string>
#include <vector>

#include "common/base/digest.h"
#include "launcher/core/state.h"

namespace lockstep::launcher {

struct Root {
  Digest tree;       // a directory object; all below it is meant
  const JobId& job;  // who refers to it; empty: a registered environment
  std::string what;  // "its source", "./outputs of attempt 1 on node n2"
};
// "job train, its source"
std::string describe(const Root& root);

void each_root(const State& state, const std::function<void(const Root&)>& take);

using TakeTree = std::function<void(const Digest& tree)>;
// The trees of a job that its readers may read: its source, its image's build context, and the
// checkpoints and outputs of its attempts.
void each_tree_of(const Job& job, const TakeTree& take);
// What a node needs for the parts that are assigned to it, and what it told of them.
void each_tree_of(const State& state, const Node& node, const TakeTree& take);
// Sources of the user's newest jobs, each tree once; `most` of them.
std::vector<Digest> newest_sources(const State& state, const std::string& user, std::size_t most);

}  // namespace lockstep::launcher
