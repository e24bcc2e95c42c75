#pragma once
// A job file that the launcher parses and checks for somebody who does not submit it: the same
// reader as the command line's (launcher/spec), and what the launcher alone knows.

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
  // Files that its environment names, by the path that the reader asks for: relative to the folder
  // of `name`, and with it. Without one, the file does not exist.
  std::map<std::string, std::string> files = {};
  friend bool operator==(const CheckJobFile&, const CheckJobFile&) = default;
};

struct JobFileChecked {
  // What would be submitted, without snapshot; absent: there are errors.
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
