#include "launcher/words/jobs/say_orders.h"

#include <fmt/format.h>

#include "common/base/bytes.h"
#include "common/domain/why/jobs/orders.h"
#include "launcher/words/job_text.h"
#include "launcher/words/why.h"

namespace lockstep::words {

std::string say(const JobCanceled& reason) {
  std::string text = "canceled";
  if (reason.by) text += " by " + text_of(reason.by);
  if (reason.queued) text += " while it waited in the queue";
  if (reason.failed_before) text += "; it had failed before: " + text_of(reason.failed_before);
  if (!reason.not_kept) return text;
  const NotKeptOutput& output = *reason.not_kept;
  text += fmt::format("; {} of node {}: {}", describe(output.kind, output.name), output.node,
                      output.said);
  if (reason.more_not_kept > 0)
    text += fmt::format(" (and {} more, see `lockstep job show`)", reason.more_not_kept);
  return text;
}

std::string say(const AskedBy& reason) { return reason.user; }

std::string say(const AskedByAttempt& reason) { return "attempt " + attempt_text(reason.attempt); }

std::string say(const ParentCanceled& reason) {
  return unquoted_job_text(reason.job) + ", which was canceled";
}

std::string say(const ParentEnded& reason) {
  return fmt::format("{}, whose attempt {} ended", unquoted_job_text(reason.job), reason.attempt);
}

std::string say(const LauncherShutsDown&) { return "lockstep down"; }

std::string say(const PipelineFailed& reason) {
  return fmt::format("{}, because step '{}' failed", pipeline_text(reason.job), reason.step);
}

std::string say(const DeletedBy& reason) { return "deleted by " + reason.user; }

std::string say(const KeptLongEnough& reason) {
  return "it ended longer ago than --keep-jobs-for " + format_duration(reason.limit);
}

std::string say(const TooMuchKept& reason) {
  const auto of_bytes = [&](const char* noun, const char* flag) {
    return fmt::format("ended jobs have {} of {}, more than {} {}; {} has most, {}",
                       to_string(Bytes{reason.has}), noun, flag, to_string(Bytes{reason.most}),
                       reason.user, to_string(Bytes{reason.users}));
  };
  switch (reason.what) {
    case KeptWhat::jobs: break;
    case KeptWhat::logs: return of_bytes("logs", "--keep-logs");
    case KeptWhat::outputs: return of_bytes("outputs", "--keep-outputs");
  }
  return fmt::format("{} jobs have ended, more than --keep-jobs {}; {} has most, {}", reason.has,
                     reason.most, reason.user, reason.users);
}

std::string say(const QuotaOfKept& reason) {
  return fmt::format("quota: user '{}' has {} ended jobs, and {} are kept", reason.user, reason.has,
                     reason.most);
}

std::string say(const PipelineDeleted&) { return "its pipeline was deleted"; }

}  // namespace lockstep::words
