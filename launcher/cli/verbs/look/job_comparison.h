#pragma once
// Two jobs beside each other, as the launcher has them: what was asked for, results, source files,
// and the steps of pipelines.

#include <map>
#include <string>
#include <vector>

#include "launcher/cli/link/connection.h"
#include "launcher/cli/text/differences/job_difference.h"

namespace lockstep::cli {

inline constexpr std::size_t kMostFilesOfLines = 50;     // whose lines are compared, of all steps
inline constexpr std::size_t kMostStepsWithJobs = 1000;  // whose jobs are asked for
inline constexpr std::size_t kMostTreePairs = 50;        // of source trees of steps

struct SourceDifference {
  CodeDifference paths;
  std::map<std::string, std::string> lines = {};  // of changed files, as `diff -u` shows them
};

struct StepComparison {
  std::string name;
  bool in_a = false, in_b = false;
  std::vector<FieldDifference> fields;
  SourceDifference code;
};

struct Comparison {
  std::string a, b;  // the names of the jobs
  std::vector<FieldDifference> fields;
  SourceDifference code;
  std::vector<StepComparison> steps;  // those that differ
  std::size_t by_states = 0;          // steps behind kMostStepsWithJobs: compared without results
  bool is_same() const { return fields.empty() && code.paths.empty() && steps.empty(); }
};

// `lines`: those of changed files too.
Result<Comparison> compare_jobs(Connection& connection, const std::string& a, const std::string& b,
                                bool lines);

// The path of a file of CodeDifference below the source folder.
std::string source_path(const std::string& path);

}  // namespace lockstep::cli
