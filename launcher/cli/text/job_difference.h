#pragma once
// The differences between two jobs. Pure.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/domain/messages/views.h"
#include "launcher/cli/terminal/output.h"
#include "launcher/cli/transfer/left_files.h"

namespace lockstep::cli {

struct FieldDifference {
  std::string key;  // as in `job show -o json`: "environment_variables.LR", "results.status"
  Json a, b;        // null: the job does not have the key
};

struct CodeDifference {
  // the files of the second beside the first; sorted
  std::vector<std::string> added, removed, changed;
  bool empty() const { return added.empty() && removed.empty() && changed.empty(); }
};

// Leaves out fields that differ in any case: names, times of submission, nodes.
std::vector<FieldDifference> differences_of(const JobView& a, const JobView& b);
// The differences of two lists that are sorted by path.
CodeDifference differences_of(const std::vector<LeftFile>& a, const std::vector<LeftFile>& b);

}  // namespace lockstep::cli
