#pragma once
// What users' programs ask of the launcher about jobs: to submit, to change, to delete and to list
// them. See client_protocol.h.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/messages/views.h"

namespace lockstep {

struct Submit {
  std::string submission;    // random, made by the client: sent twice, it makes one job
  JobSpec spec;              // `submitter` is ignored: the key decides who it is
  bool rebuild = false;      // solve and build its environment again
  bool waits = false;        // the client waits for the job's end
  bool wait_anyway = false;  // take it also where its nodes can never be had
  friend bool operator==(const Submit&, const Submit&) = default;
};
struct CancelJob {
  JobId job;
  friend bool operator==(const CancelJob&, const CancelJob&) = default;
};
// Lets the members of the job's project read its command, logs, outputs and events, but not the
// values of its variables.
struct ShareJob {
  JobId job;
  bool shared = true;  // false: ends the sharing
  friend bool operator==(const ShareJob&, const ShareJob&) = default;
};
// Changes a job that waits.
struct UpdateJob {
  JobId job;
  Priority priority = Priority::medium;
  friend bool operator==(const UpdateJob&, const UpdateJob&) = default;
};
// Leaves a job out of lists, or takes it back in. The jobs of its steps follow it.
struct ArchiveJob {
  JobId job;
  bool archived = true;  // false: restores
  friend bool operator==(const ArchiveJob&, const ArchiveJob&) = default;
};
// Changes what people note about a job. An absent text stays; an empty one means the default.
struct AnnotateJob {
  JobId job;
  std::optional<std::string> display_name, description, experiment_name;
  std::map<std::string, std::string> set_tags;
  std::vector<std::string> remove_tags;  // keys; those that it does not have are ignored
  bool clear_tags = false;               // removes all tags, before set_tags is applied
  friend bool operator==(const AnnotateJob&, const AnnotateJob&) = default;
};
// Deletes final jobs with their logs and outputs: those in `jobs`, or (`all_final`) all that ended
// at least `older_than` ago. The client repeats the request while the reply's `more` is not 0.
struct DeleteJobs {
  std::vector<JobId> jobs;
  bool all_final = false;
  Duration older_than{0};
  bool all_users = false;  // with all_final: also those of others; else the asker's own alone
  friend bool operator==(const DeleteJobs&, const DeleteJobs&) = default;
};
// Selects the jobs of a list: those that meet every condition that is set.
struct JobFilter {
  struct Tag {
    std::string key;
    std::optional<std::string> value;  // absent: any value
    friend bool operator==(const Tag&, const Tag&) = default;
  };
  bool mine = false;                // submitted by the caller
  std::vector<JobStatus> statuses;  // one of these; empty: any
  std::string experiment;
  std::string user;  // the submitter
  std::vector<Tag> tags;
  Instant since;      // submitted at this time or later; ns = 0: at any time
  JobId parent = {};  // jobs of this pipeline's steps; "": jobs that are not of a step
  ArchivedToo archived = ArchivedToo::no;
  friend bool operator==(const JobFilter&, const JobFilter&) = default;
};
struct ListJobs {   // newest first, a page at a time
  bool all = true;  // false: only jobs that are not final
  int limit = 0;    // 0 = as many as one reply holds
  JobId after;      // starts with the job after this one; empty = with the newest
  JobFilter filter = {};
  friend bool operator==(const ListJobs&, const ListJobs&) = default;
};

}  // namespace lockstep
