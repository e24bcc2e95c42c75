#pragma once
// The facts about jobs, their outputs and the steps of pipelines: see fact.h.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/table.h"
#include "common/base/time.h"
#include "common/domain/runners/assignment.h"
#include "common/domain/messages/views.h"
#include "common/domain/why/why.h"
#include "launcher/state/people/usage.h"

namespace lockstep::launcher {

// A limit beyond what a row of the journal can hold.
inline constexpr std::size_t kMostJobSources = 10'000'000;

struct JobSubmitted {
  static constexpr int kBody = 10;
  JobId job;
  std::string submission;
  JobSpec spec;
  std::uint64_t order = 0;        // 0: after all others
  std::uint64_t incarnation = 0;  // the least incarnation of its attempts
  // the present checkpoint of spec.from_checkpoint_of
  std::optional<CheckpointSource> checkpoint = {};
  std::uint64_t family = 0;             // see Job; 0 also in journals of before families
  std::vector<JobSource> sources = {};  // each tree once; none in earlier journals, and of steps
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job);
    see(field<2>, "submission", s.submission);
    see(field<3>, "spec", s.spec);
    see(field<4>, "order", s.order);
    see(field<5>, "era", s.incarnation);
    see(field<6>, "checkpoint", s.checkpoint);
    see(field<56>, "family", s.family);
    see(field<79>, "sources", s.sources, {.count = kMostJobSources});
  }
  friend bool operator==(const JobSubmitted&, const JobSubmitted&) = default;
};
struct JobShared {  // sharing with the members of its project starts or ends
  static constexpr int kBody = 71;
  JobId job;
  bool shared = false;
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job);
    see(field<2>, "shared", s.shared);
    see(field<3>, "by", s.by);
  }
  friend bool operator==(const JobShared&, const JobShared&) = default;
};
struct JobArchived {  // lists leave it out, with the jobs of its steps; or no longer
  static constexpr int kBody = 116;
  JobId job;
  bool archived = false;
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job);
    see(field<2>, "archived", s.archived);
    see(field<3>, "by", s.by);
  }
  friend bool operator==(const JobArchived&, const JobArchived&) = default;
};
struct JobAnnotated {  // all of its texts from now on
  static constexpr int kBody = 117;
  JobId job;
  std::string display_name, description, experiment_name;
  std::map<std::string, std::string> tags;
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job);
    see(field<2>, "display_name", s.display_name);
    see(field<3>, "description", s.description, {.bytes = kMaxAnnotationBytes});
    see(field<4>, "experiment_name", s.experiment_name);
    see(field<5>, "tags", s.tags, {.count = 100 * kMaxJobTags});
    see(field<6>, "by", s.by);
  }
  friend bool operator==(const JobAnnotated&, const JobAnnotated&) = default;
};
struct JobPriorityChanged {  // the new priority of a waiting job
  static constexpr int kBody = 95;
  JobId job;
  Priority priority = Priority::medium;
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job);
    see(field<2>, "priority", s.priority);
    see(field<3>, "by", s.by);
  }
  friend bool operator==(const JobPriorityChanged&, const JobPriorityChanged&) = default;
};
// A job for which it had to wait has ended as required.
struct DependencyMet {
  static constexpr int kBody = 96;
  JobId job;
  JobId after;
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job);
    see(field<2>, "after", s.after);
  }
  friend bool operator==(const DependencyMet&, const DependencyMet&) = default;
};
// The job is the first of its queue, and has to wait for busy nodes. It keeps its place before all
// other jobs of its priority until it is placed. The fact comes a second time when the job stops
// waiting for its own user's jobs and begins to wait for others'.
struct JobAtHead {
  static constexpr int kBody = 97;
  JobId job;
  static void table(auto& s, auto&& see) { see(field<1>, "job", s.job); }
  friend bool operator==(const JobAtHead&, const JobAtHead&) = default;
};
struct CancelRequested {
  static constexpr int kBody = 11;
  JobId job;
  Why by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job);
    see(reason_or_old_text<2, 800>, "by", s.by);
  }
  friend bool operator==(const CancelRequested&, const CancelRequested&) = default;
};
struct JobRequeued {
  static constexpr int kBody = 18;
  JobId job;
  AttemptId after;
  bool charged = true;
  Why why;  // without how the attempt ended; in old journals with it: see old_facts.h
  Instant not_before = {};  // back-off; ns = 0: none
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job);
    see(field<2>, "after", s.after);
    see(field<3>, "charged", s.charged);
    see(reason_or_old_text<4, 800>, "why", s.why);
    see(field<5>, "not_before", s.not_before);
  }
  friend bool operator==(const JobRequeued&, const JobRequeued&) = default;
};
struct JobFinished {
  static constexpr int kBody = 20;
  JobId job;
  JobStatus status = JobStatus::completed;
  ExitReport report;
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job);
    see(field<2>, "status", s.status);
    see(field<3>, "report", s.report);
  }
  friend bool operator==(const JobFinished&, const JobFinished&) = default;
};
struct JobDeleted {  // a final job, with its logs and the blobs that only it refers to
  static constexpr int kBody = 21;
  JobId job;
  std::string by;                 // a user's name; empty: deleted by a limit (Retention)
  std::string submission;         // the job's submission key, which is not accepted again
  std::uint64_t incarnation = 0;  // the least one for the next job with this name
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job);
    see(field<2>, "by", s.by);
    see(field<3>, "submission", s.submission);
    see(field<4>, "era", s.incarnation);
  }
  friend bool operator==(const JobDeleted&, const JobDeleted&) = default;
};
// Facts of pipelines and outputs take the name of a job as it is.
inline constexpr Rule kFactJobRule{.bytes = 64u << 10};

// A job's named outputs are trees in the blob store. Its end follows.
struct OutputsMerged {
  static constexpr int kBody = 113;
  JobId job;
  std::vector<MergedOutput> outputs;
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job, kFactJobRule);
    see(field<2>, "outputs", s.outputs, {.count = kMaxOutputs});
  }
  friend bool operator==(const OutputsMerged&, const OutputsMerged&) = default;
};
// A step of the pipeline needs no job: another pipeline's job had the same content.
struct StepReused {
  static constexpr int kBody = 114;
  JobId job;  // the pipeline
  std::string step;
  JobId from;
  std::vector<MergedOutput> outputs;
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job, kFactJobRule);
    see(field<2>, "step", s.step);
    see(field<3>, "from", s.from, kFactJobRule);
    see(field<4>, "outputs", s.outputs, {.count = kMaxOutputs});
  }
  friend bool operator==(const StepReused&, const StepReused&) = default;
};
// A step of the pipeline will not be run.
struct StepSkipped {
  static constexpr int kBody = 115;
  JobId job;  // the pipeline
  std::string step;
  Why why;
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job, kFactJobRule);
    see(field<2>, "step", s.step);
    see(reason_or_old_text<3, 4>, "why", s.why);
  }
  friend bool operator==(const StepSkipped&, const StepSkipped&) = default;
};
// The launcher has written the output to the remote that its path names.
struct OutputWritten {
  static constexpr int kBody = 118;
  JobId job;
  std::string output;
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job, kFactJobRule);
    see(field<2>, "output", s.output);
  }
  friend bool operator==(const OutputWritten&, const OutputWritten&) = default;
};
// The output could not be written.
struct OutputNotWritten {
  static constexpr int kBody = 119;
  JobId job;
  std::string output;
  std::uint32_t tries = 0;  // the number of failed tries, with this one
  Why why;
  Instant again = {};  // the time of the next try; ns = 0: none, it is given up
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job, kFactJobRule);
    see(field<2>, "output", s.output);
    see(field<3>, "tries", s.tries);
    see(reason_or_old_text<4, 6>, "why", s.why);
    see(field<5>, "again", s.again);
  }
  friend bool operator==(const OutputNotWritten&, const OutputNotWritten&) = default;
};

}  // namespace lockstep::launcher
