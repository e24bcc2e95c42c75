#pragma once
// Two jobs beside each other, as the launcher has them: their requests, results, source files, and
// the steps of pipelines.

#include <map>
#include <string>
#include <vector>

#include "launcher/cli/link/connection.h"
#include "launcher/cli/text/job_difference.h"

namespace lockstep::cli {

// the most files whose lines are compared, in all steps
inline constexpr std::size_t kMostFilesOfLines = 50;
inline constexpr std::size_t kMostStepsWithJobs = 1000;  // the most steps whose jobs are requested
inline constexpr std::size_t kMostTreePairs = 50;        // the most pairs of source trees of steps

struct SourceDifference {
  CodeDifference paths;
  // the lines of changed files, as `diff -u` shows them
  std::map<std::string, std::string> lines = {};
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
  std::vector<StepComparison> steps;  // the steps that differ
  std::size_t by_states = 0;          // steps behind kMostStepsWithJobs: compared without results
  bool is_same() const { return fields.empty() && code.paths.empty() && steps.empty(); }
};

// Compares two jobs. `lines`: also the lines of changed files.
Result<Comparison> compare_jobs(Connection& connection, const std::string& a, const std::string& b,
                                bool lines);

// The path of a file of CodeDifference below the source folder.
std::string source_path(const std::string& path);

}  // namespace lockstep::cli
