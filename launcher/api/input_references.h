#pragma once
// Data inputs that refer to something the launcher has: which trees they mean, and whether the
// caller may read them.

#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/domain/data_reference.h"
#include "common/domain/inputs.h"
#include "common/domain/outputs.h"
#include "launcher/core/authority.h"
#include "launcher/core/state.h"

namespace lockstep::launcher {

// The trees of an output's nodes, which make one, and what of it is asked for.
struct TreeQuestion {
  std::vector<NodeTree> trees;
  std::string path;  // "": all of it
};

// Whether the launcher must find the files of this input.
bool is_reference(const DataInput& input);

// not_found: there is no such job or output; permission_denied: the caller may not read it.
Result<TreeQuestion> question_of(const State& state, const Caller& caller, const DataInput& input);

}  // namespace lockstep::launcher
