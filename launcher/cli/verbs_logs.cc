#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "common/io/clock.h"
#include "launcher/cli/log_selection.h"
#include "launcher/cli/past_launcher.h"
#include "launcher/cli/verbs.h"

namespace lockstep::cli {

namespace {

constexpr const char* kLogsExamples = R"(
  lockstep job logs NAME --rank 3 --tail 20 -f
  lockstep job logs NAME --since 10m --grep 'loss=(nan|inf)' -t
  lockstep job logs NAME --environment     how each node's environment was solved and built
Lines are found by RE2's regular expressions, in what a rank wrote, without the prefix.)";

struct LogOptions {
  std::string name;
  LogSelection selection;
  bool quiet = false;   // stream
  bool follow = false;  // logs
  std::uint32_t attempt = 0;
};

Instant now() { return io::SystemClock().now(); }

int stream(Context& context, const LogOptions& options) {
  FollowOptions selected;
  const JobId job(options.name);
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error(), kExitLockstepFailed);
  const auto known = (*connection)->ask_for<JobReply>(ShowJob{job});
  if (!known) return fail(context.terminal, known.error(), kExitLockstepFailed);
  const JobSpec& spec = known->job.spec;
  LogSelection selection = options.selection;
  Status fits = find_node(&selection, "job stream", known->job, 0);
  if (fits) fits = apply(selection, "job stream", spec, now(), &selected);
  if (!fits) return fail(context.terminal, fits.error(), kExitUsage);
  WatchOptions watch;
  watch.quiet = options.quiet;
  watch.world_size = spec.world_size();
  watch.select = [&selected](FollowOptions& follow) {
    follow.filter = selected.filter;
    follow.single_log = selected.single_log;
    follow.no_prefix = selected.no_prefix;
    follow.wanted = selected.wanted;
  };
  return watch_to_end(context, **connection, job, watch);
}

std::string no_such_attempt(const LogOptions& options, const JobView& job) {
  const std::size_t count = job.attempts.size();
  return fmt::format("job logs: {} has {}, no attempt {}", options.name,
                     count == 0   ? "not been started yet"
                     : count == 1 ? "one attempt"
                                  : fmt::format("attempts 1 to {}", count),
                     options.attempt);
}

int logs(Context& context, const LogOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto known = (*connection)->ask_for<JobReply>(ShowJob{JobId(options.name)});
  if (!known) return fail(context.terminal, known.error());
  FollowOptions follow;
  follow.how_to_start = [&context] { return how_to_start(context.home); };
  if (options.attempt > known->job.attempts.size())
    return fail(context.terminal,
                make_error(ErrorCode::invalid_argument, no_such_attempt(options, known->job)),
                kExitUsage);
  LogSelection selection = options.selection;
  Status fits = find_node(&selection, "job logs", known->job, options.attempt);
  if (fits) fits = apply(selection, "job logs", known->job.spec, now(), &follow);
  if (!fits) return fail(context.terminal, fits.error(), kExitUsage);
  follow.job = JobId(options.name);
  follow.show_state = false;
  follow.until_final = options.follow;
  follow.filter.attempt = options.attempt;
  follow.filter.ranks_only = !options.selection.environment;
  if (options.follow) hold_interrupts(true);
  const auto end =
      Follower(
          **connection, context.terminal, [&context] { return context.find_endpoint(); }, follow)
          .run();
  if (!end) return fail(context.terminal, end.error());
  if (end->how == FollowEnd::How::output_closed) return 0;  // main says it
  if (end->how == FollowEnd::How::hung_up) return kExitHungUp;
  if (end->how == FollowEnd::How::finished) return 0;
  context.terminal.print_line("left the logs; come back with: lockstep job logs " + options.name +
                              " -f");
  return kExitInterrupted;
}

CLI::App* add_verb(CLI::App& group, VerbTable table, const std::shared_ptr<LogOptions>& options,
                   const char* name, const char* what, int (*work)(Context&, const LogOptions&)) {
  auto* verb = group.add_subcommand(name, what);
  auto* job = verb->add_option("-n,--name,NAME", options->name, "the job's name");
  job->check(filled("`lockstep job list` shows the names"));
  verb->parse_complete_callback([job] {
    if (job->count() == 0) throw CLI::RequiredError("NAME");
  });
  add_log_selection(*verb, options->selection);
  verb->callback([table, options, work] {
    table.action = [options, work](Context& context) { return work(context, *options); };
  });
  return verb;
}

}  // namespace

void add_log_verbs(CLI::App& group, VerbTable table) {
  const auto streaming = std::make_shared<LogOptions>();
  auto* stream_verb = add_verb(group, table, streaming, "stream",
                               "logs of all ranks until its end; Ctrl-C only leaves", stream);
  stream_verb->add_flag("-q,--quiet", streaming->quiet, "only output, and failures");
  const auto options = std::make_shared<LogOptions>();
  auto* logs_verb = add_verb(group, table, options, "logs", "what the ranks wrote", logs);
  logs_verb->footer(kLogsExamples);
  logs_verb->add_option("--attempt", options->attempt, "of this attempt (default: the newest)")
      ->check(whole_number(1));
  logs_verb->add_flag("-f,--follow", options->follow, "go on until the job ends");
}

}  // namespace lockstep::cli
