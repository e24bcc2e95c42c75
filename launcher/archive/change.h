#pragma once
// What the journal's facts change in the archive.

#include <map>
#include <optional>
#include <string>
#include <variant>

#include "launcher/archive/ended_job.h"

namespace lockstep::archive {

struct JobEnded {
  EndedJob job;
  std::string definition = {};  // bytes; "": none is kept
};
// Of a job that has ended; of a pipeline, also of its steps' jobs.
struct JobChanged {
  struct Texts {
    std::string title, description, experiment;
    std::map<std::string, std::string> tags;
    friend bool operator==(const Texts&, const Texts&) = default;
  };
  JobId job;
  std::optional<bool> archived = {}, shared = {};
  std::optional<Texts> texts = {};  // of itself alone
};
// It was deleted. Its use stays, and the jobs that its attempts submitted have no parent any more.
struct JobGone {
  JobId job;
};
struct Used {
  UseKey key;
  Use use;
};

using Change = std::variant<JobEnded, JobChanged, JobGone, Used>;

}  // namespace lockstep::archive
