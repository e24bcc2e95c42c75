#pragma once
// The conditions of a list for which the tables have an index: the one that the fewest jobs meet is
// looked up, and of these jobs the other conditions are checked one by one. Only launcher/archive
// uses it.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "launcher/archive/questions.h"
#include "launcher/archive/tables.h"

namespace lockstep::archive {

struct Driver {
  std::string from;   // tables of a SELECT of jobs
  std::string count;  // the table of which the rows are counted
  std::string where;
  std::vector<std::variant<std::int64_t, std::string>> values;  // of `where`
  std::string order;        // the column with the order of submission
  bool is_ordered = false;  // the index is sorted by it

  // Binds `values` and returns how many there are.
  int bind(Statement& statement) const;
};

// Of those that a whole list can be gone through in the order of submission, the more selective
// kinds come first.
std::vector<Driver> drivers_of(const JobQuery& query);

// For a list without such a condition: all jobs.
Driver all_jobs();

}  // namespace lockstep::archive
