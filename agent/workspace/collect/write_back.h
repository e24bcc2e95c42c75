#pragma once
// Writes a collected output to the datastore's directory that its path names, as the job's user.

#include <optional>
#include <string>
#include <vector>

#include "agent/workspace/collect/output_folder.h"
#include "agent/workspace/trees/shared_place.h"
#include "common/base/result.h"
#include "common/domain/data/outputs.h"
#include "common/domain/runners/assignment.h"
#include "common/io/attempt/attempt_dir.h"
#include "common/io/file_system.h"
#include "common/io/process.h"

namespace lockstep::agent {

// Writes an output to its datastore. `base`: the folder that has the ranks' named_output_folder().
// A file in the datastore that has the same name is replaced. `node`: of an attempt of several
// nodes; their files that differ are kept beside each other (SharedPlace), and the result says
// which. `rules`: how symlinks are followed; null: they are not. The error names the datastore and
// the path, with the cause.
Result<std::vector<std::string>> write_back(const io::Fd& base, const OutputSpec& output,
                                            const std::string& job, const io::User& user,
                                            const std::optional<OneOfNodes>& node,
                                            const LinkRules* rules = nullptr);

// This node among the nodes of its attempt; nullopt: the attempt has one node.
std::optional<OneOfNodes> one_of_nodes(const Assignment& assignment,
                                       const io::AttemptDir& directory);
// Adds the failure or the notes to the output's problems, as text for the user.
void add_problems(const Result<std::vector<std::string>>& written, const OutputSpec& output,
                  std::vector<std::string>& problems);

}  // namespace lockstep::agent
