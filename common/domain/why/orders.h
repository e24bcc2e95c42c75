#pragma once
// Who canceled a job, and what that cost; and why an ended job is deleted.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/outputs.h"
#include "common/domain/why/list.h"
#include "common/domain/why/why.h"

namespace lockstep {

// ---- it was canceled ----------------------------------------------------------------------------

struct NotKeptOutput {
  OutputKind kind = OutputKind::outputs;
  std::string name = {};  // of a named output
  std::string node = {};
  std::string said = {};  // why, as its node says
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("kind", self.kind);
    see("name", self.name);
    see("node", self.node);
    see("said", self.said);
  }
  friend bool operator==(const NotKeptOutput&, const NotKeptOutput&) = default;
};

struct JobCanceled {
  static constexpr std::string_view kCode = "canceled";
  Why by;                                      // none: nobody said who
  bool queued = false;                         // no attempt of it ran then
  Why failed_before = {};                      // how its attempt had failed already
  std::optional<NotKeptOutput> not_kept = {};  // the first output of it that was not
  int more_not_kept = 0;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("by", self.by);
    see("queued", self.queued);
    see("failed_before", self.failed_before);
    see("not_kept", self.not_kept);
    see("more_not_kept", self.more_not_kept);
  }
  friend bool operator==(const JobCanceled&, const JobCanceled&) = default;
};

struct AskedBy {
  static constexpr std::string_view kCode = "asked_by";
  std::string user;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("user", self.user);
  }
  friend bool operator==(const AskedBy&, const AskedBy&) = default;
};

struct AskedByAttempt {  // of the job that had submitted it
  static constexpr std::string_view kCode = "asked_by_attempt";
  AttemptId attempt;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("attempt", self.attempt);
  }
  friend bool operator==(const AskedByAttempt&, const AskedByAttempt&) = default;
};

struct ParentCanceled {
  static constexpr std::string_view kCode = "parent_canceled";
  JobId job;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("job", self.job);
  }
  friend bool operator==(const ParentCanceled&, const ParentCanceled&) = default;
};

struct ParentEnded {  // in another way than completed
  static constexpr std::string_view kCode = "parent_ended";
  JobId job;
  int attempt = 0;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("job", self.job);
    see("attempt", self.attempt);
  }
  friend bool operator==(const ParentEnded&, const ParentEnded&) = default;
};

struct LauncherShutsDown {
  static constexpr std::string_view kCode = "launcher_shuts_down";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const LauncherShutsDown&, const LauncherShutsDown&) = default;
};

struct PipelineFailed {
  static constexpr std::string_view kCode = "pipeline_failed";
  JobId job;              // the pipeline
  std::string step = {};  // that failed
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("job", self.job);
    see("step", self.step);
  }
  friend bool operator==(const PipelineFailed&, const PipelineFailed&) = default;
};

// ---- an ended job is deleted --------------------------------------------------------------------

struct DeletedBy {
  static constexpr std::string_view kCode = "deleted_by";
  std::string user;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("user", self.user);
  }
  friend bool operator==(const DeletedBy&, const DeletedBy&) = default;
};

struct KeptLongEnough {
  static constexpr std::string_view kCode = "kept_long_enough";
  Duration limit{0};  // --keep-jobs-for
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("limit", self.limit);
  }
  friend bool operator==(const KeptLongEnough&, const KeptLongEnough&) = default;
};

enum class KeptWhat { jobs, logs, outputs };
std::string_view to_string(KeptWhat what);
constexpr KeptWhat last_enumerator(KeptWhat) { return KeptWhat::outputs; }

struct TooMuchKept {  // a job of who has most goes
  static constexpr std::string_view kCode = "too_much_kept";
  KeptWhat what = KeptWhat::jobs;
  std::uint64_t has = 0;  // jobs, or bytes; of all users
  std::uint64_t most = 0;
  std::string user = {};    // who has most
  std::uint64_t users = 0;  // of that user
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("what", self.what);
    see("has", self.has);
    see("most", self.most);
    see("user", self.user);
    see("users", self.users);
  }
  friend bool operator==(const TooMuchKept&, const TooMuchKept&) = default;
};

struct QuotaOfKept {  // the user's own limit
  static constexpr std::string_view kCode = "quota_of_kept";
  std::string user;
  std::uint64_t has = 0;
  std::uint64_t most = 0;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("user", self.user);
    see("has", self.has);
    see("most", self.most);
  }
  friend bool operator==(const QuotaOfKept&, const QuotaOfKept&) = default;
};

struct PipelineDeleted {  // whose step it was
  static constexpr std::string_view kCode = "pipeline_deleted";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const PipelineDeleted&, const PipelineDeleted&) = default;
};

using OrderReasons =
    List<JobCanceled, AskedBy, AskedByAttempt, ParentCanceled, ParentEnded, LauncherShutsDown,
         PipelineFailed, DeletedBy, KeptLongEnough, TooMuchKept, QuotaOfKept, PipelineDeleted>;

}  // namespace lockstep
