#pragma once
// What differs between two jobs. Pure.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/domain/messages/views.h"
#include "launcher/cli/terminal/output.h"
#include "launcher/cli/transfer/left_files.h"

namespace lockstep::cli {

struct FieldDifference {
  std::string key;  // as in `job show -o json`: "environment_variables.LR", "results.status"
  Json a, b;        // null: it has none
};

struct CodeDifference {
  std::vector<std::string> added, removed, changed;  // of the second, beside the first; sorted
  bool empty() const { return added.empty() && removed.empty() && changed.empty(); }
};

// Not what differs in any case: names, times of submission, nodes.
std::vector<FieldDifference> differences_of(const JobView& a, const JobView& b);
// Both sorted by path.
CodeDifference differences_of(const std::vector<LeftFile>& a, const std::vector<LeftFile>& b);

}  // namespace lockstep::cli
