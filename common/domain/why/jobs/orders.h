#pragma once
// Who canceled a job, and what that cost; and why an ended job is deleted.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/fields.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/data/outputs.h"
#include "common/domain/why/list.h"
#include "common/domain/why/why.h"

namespace lockstep {

// ---- it was canceled ----------------------------------------------------------------------------

struct NotKeptOutput {
  OutputKind kind = OutputKind::outputs;
  std::string name = {};  // for a named output
  std::string node = {};
  std::string said = {};  // why, as its node says
  LOCKSTEP_FIELDS(NotKeptOutput, kind, name, node, said);
};

struct JobCanceled {
  static constexpr std::string_view kCode = "canceled";
  Why by;                                      // none: the user is unknown
  bool queued = false;                         // no attempt of the job ran
  Why failed_before = {};                      // how its attempt had failed already
  std::optional<NotKeptOutput> not_kept = {};  // the first output of it that was not kept
  int more_not_kept = 0;
  LOCKSTEP_FIELDS(JobCanceled, by, queued, failed_before, not_kept, more_not_kept);
};

struct AskedBy {
  static constexpr std::string_view kCode = "asked_by";
  std::string user;
  LOCKSTEP_FIELDS(AskedBy, user);
};

struct AskedByAttempt {  // An attempt of the job that submitted it asked for that.
  static constexpr std::string_view kCode = "asked_by_attempt";
  AttemptId attempt;
  LOCKSTEP_FIELDS(AskedByAttempt, attempt);
};

struct ParentCanceled {
  static constexpr std::string_view kCode = "parent_canceled";
  JobId job;
  LOCKSTEP_FIELDS(ParentCanceled, job);
};

struct ParentEnded {  // The parent did not complete.
  static constexpr std::string_view kCode = "parent_ended";
  JobId job;
  int attempt = 0;
  LOCKSTEP_FIELDS(ParentEnded, job, attempt);
};

struct LauncherShutsDown {
  static constexpr std::string_view kCode = "launcher_shuts_down";
  LOCKSTEP_FIELDS(LauncherShutsDown);
};

struct PipelineFailed {
  static constexpr std::string_view kCode = "pipeline_failed";
  JobId job;              // the pipeline
  std::string step = {};  // the step that failed
  LOCKSTEP_FIELDS(PipelineFailed, job, step);
};

// ---- an ended job is deleted --------------------------------------------------------------------

struct DeletedBy {
  static constexpr std::string_view kCode = "deleted_by";
  std::string user;
  LOCKSTEP_FIELDS(DeletedBy, user);
};

struct KeptLongEnough {
  static constexpr std::string_view kCode = "kept_long_enough";
  Duration limit{0};  // --keep-jobs-for
  LOCKSTEP_FIELDS(KeptLongEnough, limit);
};

enum class KeptWhat { jobs, logs, outputs };
std::string_view to_string(KeptWhat what);
constexpr KeptWhat last_enumerator(KeptWhat) { return KeptWhat::outputs; }

struct TooMuchKept {  // a job of who has most goes
  static constexpr std::string_view kCode = "too_much_kept";
  KeptWhat what = KeptWhat::jobs;
  std::uint64_t has = 0;  // jobs, or bytes; of all users
  std::uint64_t most = 0;
  std::string user = {};    // the user who has most
  std::uint64_t users = 0;  // the amount of that user
  LOCKSTEP_FIELDS(TooMuchKept, what, has, most, user, users);
};

struct QuotaOfKept {  // The user's own limit is exceeded.
  static constexpr std::string_view kCode = "quota_of_kept";
  std::string user;
  std::uint64_t has = 0;
  std::uint64_t most = 0;
  LOCKSTEP_FIELDS(QuotaOfKept, user, has, most);
};

struct PipelineDeleted {  // The pipeline was deleted whose step the job was.
  static constexpr std::string_view kCode = "pipeline_deleted";
  LOCKSTEP_FIELDS(PipelineDeleted);
};

using OrderReasons =
    List<JobCanceled, AskedBy, AskedByAttempt, ParentCanceled, ParentEnded, LauncherShutsDown,
         PipelineFailed, DeletedBy, KeptLongEnough, TooMuchKept, QuotaOfKept, PipelineDeleted>;

}  // namespace lockstep
