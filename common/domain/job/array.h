#pragma once
// A job array: the same job many times, each time with another index. It is a pipeline whose steps
// are named after their indices (docs/decisions/051-pipelines.md).

#include <cstddef>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/table.h"

namespace lockstep {

inline constexpr std::size_t kMaxPipelineSteps = 10'000;  // the most steps of a pipeline, and the
                                                          // most tasks of an array
inline constexpr int kMaxArrayIndex = 999'999'999;
inline constexpr std::size_t kMaxArrayTextBytes = 4'096;
inline constexpr Rule kArrayIndexRule{.low = 0, .high = kMaxArrayIndex};

// The task of an array that a job runs; its ranks see it as LOCKSTEP_ARRAY_*.
struct ArrayTask {
  int index = 0;
  int count = 0;            // tasks of the whole array
  int first = 0, last = 0;  // the least and the greatest index
  static void table(auto& s, auto&& see) {
    see(field<1>, "index", s.index, kArrayIndexRule);
    see(field<2>, "count", s.count, kArrayIndexRule);
    see(field<3>, "first", s.first, kArrayIndexRule);
    see(field<4>, "last", s.last, kArrayIndexRule);
  }
  friend bool operator==(const ArrayTask&, const ArrayTask&) = default;
};

struct ArraySpec {
  std::vector<int> indices;  // ascending, each once
  int at_most = 0;           // the most tasks that run at the same time; 0: no limit
  std::string text = {};     // the array as the submission has it
};

// Reads an array in the form of Slurm's --array: "0-19", "1,3,7", "0-100:5", with "%4" at the end
// for at_most.
Result<ArraySpec> array_from(const std::string& text);

}  // namespace lockstep
