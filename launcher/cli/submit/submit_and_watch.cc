#include "launcher/cli/submit/submit_and_watch.h"

#include <nlohmann/json.hpp>

#include "launcher/api/json/job.h"

namespace lockstep::cli {
namespace {

// Prints the name or record of a job that is not followed. `otherwise`: the exit code if this
// fails.
int print_created(Context& context, Connection& connection, const JobId& job, Format format,
                  int otherwise) {
  if (format == Format::table) {
    context.terminal.out(job.value + "\n");
    return 0;
  }
  const auto reply = connection.ask_for<JobReply>(ShowJob{job});
  if (!reply) return fail(context.terminal, reply.error(), otherwise);
  return print(context, format, api::to_json(reply->job), "");
}

// Handles a refusal. If the job would wait in vain for nodes, says how to wait all the same.
int after_refusal(Context& context, const Error& error, int otherwise) {
  if (error.code != ErrorCode::unsatisfiable) return otherwise;
  context.terminal.print_line(
      "the job is not submitted, because it would wait in vain; --wait-anyway waits");
  return kExitFailure;
}

}  // namespace

int submit_and_watch(Context& context, Connection& connection, Submission submission,
                     WatchOptions watch, int otherwise, const SayRefusal& say) {
  watch.world_size = submission.spec.is_pipeline() ? 0 : submission.spec.world_size();
  watch.leave_in_vain = !submission.wait_anyway;
  const bool waits = submission.waits;
  const auto job = submit(context, connection, std::move(submission));
  if (!job) {
    if (say)
      say(job.error());
    else
      fail(context.terminal, job.error());
    return after_refusal(context, job.error(), otherwise);
  }
  return waits ? watch_to_end(context, connection, *job, watch)
               : print_created(context, connection, *job, watch.format, otherwise);
}

}  // namespace lockstep::cli
