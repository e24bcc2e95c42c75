#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "common/io/clock.h"
#include "launcher/cli/base/step_choice.h"
#include "launcher/cli/follow/log_selection.h"
#include "launcher/cli/follow/pipeline_follower.h"
#include "launcher/cli/follow/watch.h"
#include "launcher/cli/local/past_launcher.h"
#include "launcher/cli/text/not_kept_text.h"
#include "launcher/cli/verbs/look/look_verbs.h"

namespace lockstep::cli {

namespace {

constexpr const char* kLogsExamples = R"(
  lockstep job logs NAME --rank 3 --tail 20 -f
  lockstep job logs NAME --since 10m --grep 'loss=(nan|inf)' -t
  lockstep job logs PIPELINE --step train  one of a pipeline's steps; without --step, all of them
  lockstep job logs NAME --environment     how each node's environment was solved and built
--grep takes a regular expression of RE2, and searches the lines without their prefix.)";

struct LogOptions {
  std::string name;
  std::string step;  // step of a pipeline
  LogSelection selection;
  bool quiet = false;   // for stream
  bool follow = false;  // for logs
  std::uint32_t attempt = 0;
};

Instant now() { return io::SystemClock().now(); }

int stream(Context& context, const LogOptions& options) {
  FollowOptions selected;
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error(), kExitLockstepFailed);
  const auto job = chosen_job(**connection, context.terminal, "job stream", options.name,
                              options.step, "log this is");
  if (!job) return fail(context.terminal, job.error(), kExitLockstepFailed);
  const JobSpec& spec = job->spec;
  LogSelection selection = options.selection;
  Status fits;
  if (!spec.is_pipeline()) fits = find_node(&selection, "job stream", *job, 0);
  if (fits) fits = apply(selection, "job stream", spec, now(), &selected);
  if (!fits) return fail(context.terminal, fits.error(), kExitUsage);
  WatchOptions watch;
  watch.quiet = options.quiet;
  watch.environment_log = true;
  watch.world_size = spec.is_pipeline() ? 0 : spec.world_size();
  selected.is_over = is_final(job->status);
  selected.reused_logs = true;  // the logs of a pipeline include those of all its steps
  watch.select = [&selected](FollowOptions& follow) {
    follow.is_over = selected.is_over;
    follow.reused_logs = selected.reused_logs;
    follow.filter = selected.filter;
    follow.timestamps = selected.timestamps;
    follow.single_log = selected.single_log;
    follow.no_prefix = selected.no_prefix;
    follow.wanted = selected.wanted;
    follow.raw = selected.raw;
  };
  return watch_to_end(context, **connection, JobId(spec.name), watch);
}

std::string no_such_attempt(const LogOptions& options, const JobView& job) {
  const std::size_t count = job.attempts.size();
  if (job.spec.is_pipeline())
    return fmt::format("job logs: {} is a pipeline, so it has no attempts; add --step STEP",
                       job.spec.name);
  return fmt::format("job logs: {0} has no attempt {2}; it has {1}", job.spec.name,
                     count == 0   ? "not been started yet"
                     : count == 1 ? "one attempt"
                                  : fmt::format("attempts 1 to {}", count),
                     options.attempt);
}

bool chooses_some(const LogSelection& selection) {
  return selection.rank || selection.node || !selection.node_word.empty() || selection.only_out ||
         selection.only_err || selection.tail >= 0 || !selection.since.empty() ||
         !selection.grep.empty();
}

// Why the log of a command job is empty.
std::string why_no_logs(const JobView& job, std::uint32_t attempt_number,
                        const LogSelection& selection) {
  const std::string name = in_one_line(job.spec.name), reason = in_one_line(job.reason);
  const std::string because = reason.empty() ? "" : ": " + reason;
  if (job.attempts.empty())
    return is_final(job.status)
               ? fmt::format("{} has no logs, because it was never started{}", name, because)
               : fmt::format(
                     "{0} is {1} and has no logs yet{2}; `lockstep job explain {0}` says more",
                     name, to_string(job.status), because);
  const AttemptView& attempt =
      attempt_number == 0 ? job.attempts.back() : job.attempts[attempt_number - 1];
  if (attempt.report && attempt.report->cause != Cause::completed && !chooses_some(selection))
    return fmt::format("{} has no logs: {}", name, in_one_line(attempt.report->message));
  if (attempt.started.ns == 0 && attempt.ended.ns == 0)
    return fmt::format("the ranks of {} have not started yet{}", name, because);
  return fmt::format(
      "the ranks of {} {} nothing{}{}", name, attempt.ended.ns == 0 ? "have written" : "wrote",
      chooses_some(selection) ? " of what was asked for" : "", attempt.ended.ns == 0 ? " yet" : "");
}

Result<FollowEnd> follow_logs(Context& context, Connection& connection, const JobView& job,
                              const FollowOptions& follow) {
  const auto find_endpoint = [&context] { return context.find_endpoint(); };
  if (job.spec.is_pipeline())
    return PipelineFollower(connection, context.terminal, find_endpoint, follow).run();
  return Follower(connection, context.terminal, find_endpoint, follow).run();
}

int logs(Context& context, const LogOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto job = chosen_job(**connection, context.terminal, "job logs", options.name,
                              options.step, "log this is");
  if (!job) return fail(context.terminal, job.error());
  FollowOptions follow;
  follow.how_to_start = [&context] { return how_to_start(context.home); };
  if (options.attempt > job->attempts.size())
    return fail(context.terminal,
                make_error(ErrorCode::invalid_argument, no_such_attempt(options, *job)),
                kExitUsage);
  LogSelection selection = options.selection;
  Status fits;
  if (!job->spec.is_pipeline()) fits = find_node(&selection, "job logs", *job, options.attempt);
  if (fits) fits = apply(selection, "job logs", job->spec, now(), &follow);
  if (!fits) return fail(context.terminal, fits.error(), kExitUsage);
  follow.job = JobId(job->spec.name);
  follow.show_state = false;
  follow.until_final = options.follow;
  follow.is_over = is_final(job->status);
  follow.reused_logs = true;
  follow.filter.attempt = options.attempt;
  follow.filter.ranks_only = !options.selection.environment;
  if (options.follow) hold_interrupts(true);
  const auto end = follow_logs(context, **connection, *job, follow);
  if (!end) return fail(context.terminal, end.error());
  if (end->how == FollowEnd::How::output_closed) return 0;  // main reports it
  if (end->how == FollowEnd::How::hung_up) return kExitHungUp;
  if (end->how == FollowEnd::How::finished) {
    const std::string lost = lost_logs_text(end->job ? *end->job : *job);
    if (!lost.empty()) context.terminal.print_line(lost);
    const JobView& known = end->job ? *end->job : *job;
    if (!end->has_logs && !known.spec.is_pipeline() && !options.selection.environment)
      context.terminal.print_line(why_no_logs(known, options.attempt, options.selection));
    return 0;
  }
  context.terminal.print_line("stopped following the logs; to continue: lockstep job logs " +
                              job->spec.name + " -f");
  return kExitInterrupted;
}

CLI::App* add_verb(CLI::App& group, VerbTable table, const std::shared_ptr<LogOptions>& options,
                   const char* name, const char* what, int (*work)(Context&, const LogOptions&)) {
  auto* verb = group.add_subcommand(name, what);
  auto* job = verb->add_option("-n,--name,NAME", options->name, "the job's name");
  job->check(job_name());
  verb->parse_complete_callback([job] {
    if (job->count() == 0) throw CLI::RequiredError("NAME");
  });
  add_step(*verb, options->step);
  add_log_selection(*verb, options->selection);
  verb->callback([table, options, work] {
    table.action = [options, work](Context& context) { return work(context, *options); };
  });
  return verb;
}

}  // namespace

void add_log_verbs(CLI::App& group, VerbTable table) {
  const auto streaming = std::make_shared<LogOptions>();
  auto* stream_verb = add_verb(
      group, table, streaming, "stream",
      "print the logs of all ranks until the job ends; Ctrl-C does not cancel the job", stream);
  stream_verb->add_flag("-q,--quiet", streaming->quiet,
                        "print only the ranks' output and failures");
  const auto options = std::make_shared<LogOptions>();
  auto* logs_verb = add_verb(group, table, options, "logs", "print what the ranks wrote", logs);
  logs_verb->footer(kLogsExamples);
  logs_verb
      ->add_option("--attempt", options->attempt, "the number of the attempt (default: the newest)")
      ->check(whole_number(1));
  logs_verb->add_flag("-f,--follow", options->follow, "keep printing until the job ends");
}

}  // namespace lockstep::cli
