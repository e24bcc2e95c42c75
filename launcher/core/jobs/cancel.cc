#include "launcher/core/jobs/cancel.h"

#include "common/domain/messages/no_such_job.h"

namespace lockstep::launcher {

const Job* known_job(Context& core, const ReplyTo& reply, const JobId& id) {
  const Job* job = core.state.job(id);
  if (job == nullptr) core.refuse(reply, ErrorCode::not_found, no_such_job(id).message);
  return job;
}

void cancel(Context& core, const JobId& id, const Why& by) {
  const Job& job = *core.state.job(id);
  const bool can = job.is_waiting() || job.is_placed() || job.runs_steps();
  if (can && !job.cancel_by) core.emit(CancelRequested{id, by});
  if (job.is_ending()) core.endings.cancel(id);
}

}  // namespace lockstep::launcher
