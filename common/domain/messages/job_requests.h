#pragma once
// The requests of users' programs about jobs: to submit, change, delete and list them. See
// client_protocol.h.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/table.h"
#include "common/domain/messages/views.h"
#include "common/grammar/job_name.h"

namespace lockstep {

inline constexpr std::size_t kMaxJobsInReply = 200'000;  // the most jobs in a reply, and in a
                                                         // request
inline constexpr std::size_t kMaxFilterWords = 100;

struct Submit {
  static constexpr int kBody = 30;
  std::string submission;    // random, made by the client: sent twice, it makes one job
  JobSpec spec;              // `submitter` is ignored: the key decides who it is
  bool rebuild = false;      // solve and build its environment again
  bool waits = false;        // the client waits for the job's end
  bool wait_anyway = false;  // take it also where its nodes can never be had
  static void table(auto& s, auto&& see) {
    see(field<1>, "submission", s.submission, {.bytes = 256});
    see(field<2>, "spec", s.spec);
    see(field<30>, "rebuild", s.rebuild);
    see(field<373>, "waits", s.waits);
    see(field<374>, "wait_anyway", s.wait_anyway);
  }
  friend bool operator==(const Submit&, const Submit&) = default;
};
struct CancelJob {
  static constexpr int kBody = 31;
  JobId job;
  static void table(auto& s, auto&& see) { see(field<1>, "job", s.job, kNameRule); }
  friend bool operator==(const CancelJob&, const CancelJob&) = default;
};
// Lets the members of the job's project read its command, logs, outputs and events, but not the
// values of its variables.
struct ShareJob {
  static constexpr int kBody = 261;
  JobId job;
  bool shared = true;  // false: ends the sharing
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job, kNameRule);
    see(field<2>, "shared", s.shared);
  }
  friend bool operator==(const ShareJob&, const ShareJob&) = default;
};
// Changes a job that waits.
struct UpdateJob {
  static constexpr int kBody = 310;
  JobId job;
  Priority priority = Priority::medium;
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job, kNameRule);
    see(field<2>, "priority", s.priority);
  }
  friend bool operator==(const UpdateJob&, const UpdateJob&) = default;
};
// Leaves a job out of lists, or takes it back in. The jobs of its steps follow it.
struct ArchiveJob {
  static constexpr int kBody = 355;
  JobId job;
  bool archived = true;  // false: restores the job
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job, kNameRule);
    see(field<2>, "archived", s.archived);
  }
  friend bool operator==(const ArchiveJob&, const ArchiveJob&) = default;
};
// Changes what people note about a job. An absent text stays; an empty one means the default.
struct AnnotateJob {
  static constexpr int kBody = 356;
  JobId job;
  std::optional<std::string> display_name, description, experiment_name;
  std::map<std::string, std::string> set_tags;
  std::vector<std::string> remove_tags;  // keys; those that it does not have are ignored
  bool clear_tags = false;               // removes all tags, before set_tags is applied
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job, kNameRule);
    see(field<2>, "display_name", s.display_name);
    see(field<3>, "description", s.description, {.bytes = kMaxAnnotationBytes});
    see(field<4>, "experiment_name", s.experiment_name);
    see(field<5>, "set_tags", s.set_tags, {.count = kMaxJobTags});
    see(field<6>, "remove_tags", s.remove_tags, {.count = kMaxJobTags});
    see(field<7>, "clear_tags", s.clear_tags);
  }
  friend bool operator==(const AnnotateJob&, const AnnotateJob&) = default;
};
// Deletes final jobs with their logs and outputs: those in `jobs`, or (`all_final`) all that ended
// at least `older_than` ago. The client repeats the request while the reply's `more` is not 0.
struct DeleteJobs {
  static constexpr int kBody = 43;
  std::vector<JobId> jobs;
  bool all_final = false;
  Duration older_than{0};
  bool all_users = false;  // with all_final: deletes other users' jobs too; else only the asker's
                           // own
  static void table(auto& s, auto&& see) {
    see(field<1>, "jobs", s.jobs, {.count = kMaxJobsInReply});
    see(field<2>, "all_final", s.all_final);
    see(field<3>, "older_than", s.older_than);
    see(field<4>, "all_users", s.all_users);
  }
  friend bool operator==(const DeleteJobs&, const DeleteJobs&) = default;
};
// Selects the jobs of a list: those that meet every condition that is set.
struct JobFilter {
  struct Tag {
    std::string key;
    std::optional<std::string> value;  // absent: any value
    static void table(auto& s, auto&& see) {
      see(field<1>, "key", s.key);
      see(field<2>, "value", s.value);
    }
    friend bool operator==(const Tag&, const Tag&) = default;
  };
  bool mine = false;                // submitted by the caller
  std::vector<JobStatus> statuses;  // lists jobs with one of these statuses; empty: with any
  std::string experiment;
  std::string user;  // the submitter
  std::vector<Tag> tags;
  Instant since;      // submitted at this time or later; ns = 0: at any time
  JobId parent = {};  // jobs of this pipeline's steps; "": jobs that are not of a step
  ArchivedToo archived = ArchivedToo::no;
  static void table(auto& s, auto&& see) {
    see(field<1>, "mine", s.mine);
    see(field<2>, "statuses", s.statuses, {.count = kMaxFilterWords});
    see(field<3>, "experiment", s.experiment);
    see(field<4>, "user", s.user, kNameRule);
    see(field<5>, "tags", s.tags, {.count = kMaxFilterWords});
    see(field<6>, "since", s.since);
    see(field<7>, "parent", s.parent, {.bytes = kMaxJobNameBytes});
    see(field<8>, "archived", s.archived, {.since = "old"});
  }
  friend bool operator==(const JobFilter&, const JobFilter&) = default;
};
struct ListJobs {  // newest first, a page at a time
  static constexpr int kBody = 32;
  bool all = true;  // false: lists only jobs that are not final
  int limit = 0;    // 0 = as many as one reply holds
  JobId after;      // starts with the job after this one; empty = with the newest
  JobFilter filter = {};
  static void table(auto& s, auto&& see) {
    see(field<1>, "all", s.all);
    see(field<2>, "limit", s.limit, kNotNegative);
    see(field<3>, "after", s.after, kNameRule);
    see(field<4>, "filter", s.filter);
  }
  friend bool operator==(const ListJobs&, const ListJobs&) = default;
};

}  // namespace lockstep
