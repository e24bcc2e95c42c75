#pragma once
// Folds the journal's facts into changes of the archive. It remembers the jobs that have not ended,
// and of each what the archive will tell of it; it decides nothing, and does no I/O. Facts come in
// the order of the journal, all from its first row on, live and in a replay alike.
//
// A fact that it does not know changes nothing here: what is about nodes, users or names is not in
// the archive.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/domain/runners/assignment.h"
#include "launcher/archive/change.h"
#include "launcher/state/facts/fact.h"
#include "launcher/state/state.h"

namespace lockstep::archive {

// What the core's state made of a submission, beyond its fact.
struct SubmittedAs {
  std::uint64_t order = 0;  // Job::order
  JobId child_of;           // Job::child_of
  bool shared = false;      // a step is shared with its pipeline
  bool archived = false;    // the same
};
SubmittedAs submitted_as(const launcher::State& state, const JobId& job);

class Fold {
 public:
  // The bytes of a job's definition, of which the archive keeps one copy for all jobs that have the
  // same. None: no definitions are kept.
  using Define = std::function<std::string(const JobSpec&)>;
  explicit Fold(Define define = nullptr) : define_(std::move(define)) {}

  // Appends what the fact changes. `as`: of JobSubmitted, as the state is after it.
  void see(const launcher::StampedFact& fact, const SubmittedAs& as, std::vector<Change>* changes);
  std::size_t open_jobs() const { return open_.size(); }

 private:
  struct Part {
    NodeId node;
    Allotment allotment;
    bool ended = false;
  };
  struct Attempt {
    std::uint64_t incarnation = 0;
    Instant placed;
    std::vector<Part> parts;
    bool ended = false;
  };
  struct Open {
    EndedJob job;
    std::string definition;
    std::vector<Attempt> attempts;  // numbers 1, 2, …
  };
  struct Visitor;

  Open* find(const JobId& job);
  Attempt* find(const AttemptId& attempt);

  Define define_;
  std::map<JobId, Open> open_;
  std::map<JobId, std::set<JobId>> below_;  // open jobs by EndedJob::parent; no set is empty
};

}  // namespace lockstep::archive
