#pragma once
// Data inputs, and paths of registered data, that refer to something the launcher has: which trees
// they mean, and whether the caller may read them.

#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/domain/data/data_reference.h"
#include "common/domain/data/inputs.h"
#include "common/domain/data/outputs.h"
#include "common/snapshot/subtree.h"
#include "launcher/api/ports/tree_question.h"
#include "launcher/core/access/authority.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

// An input of a submission: of the job, or of a pipeline's step.
struct NamedInput {
  std::string step;  // "": of the job
  DataInput input;
};

// Whether the launcher must find the files of this input.
bool is_reference(const DataInput& input);

// Finds the trees of a job's output, for an input of this type. Returns not_found if the job or the
// output does not exist, or the job wrote nothing to it; conflict if the job has not ended;
// permission_denied if the caller may not read the job.
Result<TreeQuestion> question_of(const State& state, const Caller& caller, InputType type,
                                 const JobOutputReference& reference);

// Gives the input the files of the registered data or model, its type if that is open, and as its
// source "azureml:NAME:VERSION". Returns not_found if there is none, invalid_argument if it has
// another type, permission_denied if the caller may not see the name.
Status take_asset(const State& state, const Caller& caller, const AssetReference& reference,
                  DataInput& input);

// Whether the input can be resolved, as far as that is known without reading trees. The error
// begins with "inputs.NAME: REFERENCE".
Status check_reference(const State& state, const Caller& caller, const DataInput& input);
// Puts the same prefix before an error about this input.
Error about(const DataInput& input, const Error& error);

// The files that a question has found, as a tree and the name of the file if it is one.
Status take_found(const snapshot::Subtree& found, InputType type, std::optional<Digest>& tree,
                  std::string& file);

}  // namespace lockstep::launcher
