#include "launcher/daemon/servers/bulk_verbs.h"

namespace lockstep::launcher {

std::string object_of(const BulkMessage& message) {
  if (const auto* follow = std::get_if<LogFollow>(&message)) return "job " + follow->job.value;
  if (const auto* logs = std::get_if<LogAppend>(&message))
    return "job " + logs->key.attempt.job.value;
  if (const auto* frame = std::get_if<AttachFrame>(&message))
    if (const auto* opening = std::get_if<AttachOpen>(&frame->body))
      return "job " + opening->job.value;
  return "the launcher";
}

}  // namespace lockstep::launcher
