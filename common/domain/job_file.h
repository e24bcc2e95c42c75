#pragma once
// A job file that the launcher checks without submitting it: with the command line's own reader
// (launcher/spec), and with the checks that need the launcher's state.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/job_spec.h"

namespace lockstep {

struct CheckJobFile {  // answered by JobFileChecked
  std::string name;    // that errors begin with: "job.yml"
  std::string text;
  std::vector<std::string> overrides = {};  // "k.l=v", applied in order
  // The contents of files that the environment names, by path as the reader asks for it: the folder
  // of `name`, and the path below it. A path that is missing here does not exist.
  std::map<std::string, std::string> files = {};
  friend bool operator==(const CheckJobFile&, const CheckJobFile&) = default;
};

struct JobFileChecked {
  // The job that would be submitted, without its snapshot; absent when there are errors.
  std::optional<JobSpec> spec = {};
  std::string code = {};                 // as written; whether it exists is not known here
  std::vector<std::string> errors = {};  // as `lockstep job create` says them, with their places
  std::vector<std::string> notes = {};   // nothing is wrong
  friend bool operator==(const JobFileChecked&, const JobFileChecked&) = default;
};

inline constexpr std::size_t kMaxJobFileOverrides = 1'000;
inline constexpr std::size_t kMaxJobFileFiles = 256;
inline constexpr std::size_t kMaxJobFileNameBytes = 4'096;
inline constexpr std::size_t kMaxJobFileLines = 10'000;  // of errors, and of notes

}  // namespace lockstep
