#include "launcher/cli/follow/watch.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/io/clock.h"
#include "launcher/api/json/job.h"
#include "launcher/cli/follow/follower.h"
#include "launcher/cli/follow/pipeline_follower.h"
#include "launcher/cli/local/node_restarter.h"
#include "launcher/cli/local/past_launcher.h"
#include "launcher/cli/text/not_kept_text.h"
#include "launcher/cli/text/view_text.h"
#include "launcher/cli/transfer/download_plan.h"

namespace lockstep::cli {

namespace {

// Tells how the job ended, if it ended at once, since no other line names it.
void say_how_it_ended(Context& context, const JobView& job, bool quiet) {
  if (job.status != JobStatus::completed) {
    context.terminal.err(failure_report(job));
  } else if (!quiet) {
    context.terminal.print_line(fmt::format("{}: Completed after {}", job.spec.name,
                                            format_duration(job.ended - job.submitted)));
  }
}

int finished(Context& context, Connection& connection, const FollowEnd& end,
             const WatchOptions& options) {
  const JobView& job = *end.job;
  DownloadRequest everything;
  everything.all_named = everything.checkpoint = true;
  if (!job.attempts.empty())
    for (const auto& problem : output_problems(job.attempts.back(), everything))
      context.terminal.print_line(in_one_line(problem));
  for (const auto& warning : api::unwritten_outputs(job)) context.terminal.print_line(warning);
  if (const std::string lost = not_kept_text(job); !lost.empty())
    context.terminal.print_line("not kept: " + lost);
  if (const std::string lost = lost_logs_text(job); !lost.empty())
    context.terminal.print_line(lost);
  const bool left_in_vain = end.in_vain && job.status == JobStatus::canceled;
  if (!left_in_vain) say_how_it_ended(context, job, options.quiet);
  if (options.format != Format::table) {
    const auto reply = connection.ask_for<JobReply>(ShowJob{JobId(job.spec.name)});
    print(context, options.format, api::to_json(reply ? reply->job : job), "");
  }
  if (left_in_vain) return kExitFailure;
  if (end.interrupted) return kExitInterrupted;
  const int code = exit_code_of(job);
  return code == 0 && context.terminal.lost_output() ? kExitLockstepFailed : code;
}

int output_lost(Context& context, const JobId& job) {
  const auto& lost = context.terminal.lost_output();
  const bool closed = !lost || lost->closed;
  context.terminal.print_line(
      fmt::format("the output of this command {}; the job continues. See: lockstep job show {}",
                  closed ? "was closed" : "cannot be written", job.value));
  return closed ? kExitOutputClosed : kExitLockstepFailed;
}

std::string how_we_left(const std::string& name, FollowEnd::Cancel cancel) {
  switch (cancel) {
    case FollowEnd::Cancel::not_asked:
      return fmt::format(
          "stopped following {0}; the job continues. To follow it again: lockstep job stream {0}",
          name);
    case FollowEnd::Cancel::unanswered:
      return fmt::format(
          "stopped following {0}; the launcher has not confirmed that it cancels the job. Check "
          "with: lockstep job show {0}; cancel again with: lockstep job cancel {0}",
          name);
    case FollowEnd::Cancel::agreed:
      return fmt::format(
          "stopped following {0}; the job is still being canceled. Check with: lockstep job show "
          "{0}",
          name);
  }
  return "";
}

FollowOptions follow_options(Context& context, const JobId& job, const WatchOptions& options,
                             int world_size) {
  FollowOptions follow;
  follow.how_to_start = [&context] { return how_to_start(context.home); };
  follow.job = job;
  follow.cancel_on_interrupt = options.cancel_on_interrupt;
  follow.show_state = !options.quiet;
  follow.single_log = world_size == 1;
  follow.raw = options.raw;
  follow.leave_in_vain = options.leave_in_vain;
  if (options.select) options.select(follow);
  if ((options.quiet || !options.environment_log) && !follow.filter.stream)
    follow.filter.ranks_only = true;
  follow.all_to_stderr = options.format != Format::table;
  return follow;
}

}  // namespace

int watch_to_end(Context& context, Connection& connection, const JobId& job,
                 const WatchOptions& options) {
  int world_size = options.world_size;
  bool is_pipeline = false;
  if (world_size == 0) {
    const auto known = connection.ask_for<JobReply>(ShowJob{job});
    if (!known) return fail(context.terminal, known.error(), kExitLockstepFailed);
    world_size = known->job.spec.world_size();
    is_pipeline = known->job.spec.is_pipeline();
  }
  FollowOptions follow = follow_options(context, job, options, world_size);
  LocalNodeRestarter restarter(context.home, context.terminal);
  if (context.launcher.empty())
    follow.keep_nodes = [&restarter] { restarter.check(io::SystemClock().now()); };
  hold_interrupts(true);
  const auto find_endpoint = [&context] { return context.find_endpoint(); };
  const auto end = is_pipeline
                       ? PipelineFollower(connection, context.terminal, find_endpoint, follow).run()
                       : Follower(connection, context.terminal, find_endpoint, follow).run();
  if (!end) return fail(context.terminal, end.error(), kExitLockstepFailed);
  switch (end->how) {
    case FollowEnd::How::finished:
      if (options.before_report) options.before_report();
      return finished(context, connection, *end, options);
    case FollowEnd::How::detached:
      context.terminal.print_line(how_we_left(job.value, end->cancel));
      return kExitInterrupted;
    case FollowEnd::How::hung_up:
      context.terminal.print_line(how_we_left(job.value, end->cancel));
      return kExitHungUp;
    case FollowEnd::How::output_closed: return output_lost(context, job);
  }
  return kExitLockstepFailed;
}

}  // namespace lockstep::cli
