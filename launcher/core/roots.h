#pragma once
// What the launcher's state refers to in the blob store: all that garbage collection keeps, that a
// backup copies and that fsck looks for. A new kind of fact that names a blob adds it here.

#include <functional>
#include <string>

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

}  // namespace lockstep::launcher
