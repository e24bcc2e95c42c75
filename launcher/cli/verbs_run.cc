#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "common/io/clock.h"
#include "launcher/cli/follower.h"
#include "launcher/cli/run_spec.h"
#include "launcher/cli/submit.h"
#include "launcher/cli/verbs.h"
#include "launcher/cli/view_text.h"

namespace lockstep::cli {

namespace {

constexpr const char* kRunExamples = R"(
The words behind -- are run exactly, without a shell, once per rank:
  lockstep run -- python train.py --lr 0.1
  lockstep run -n 4 --distribution mpi -- ./hello
  lockstep run -N 2 -n 8 --distribution pytorch --gpus 8 -- python train_ddp.py
  lockstep run --detach --name night -- ./long.sh;  lockstep job stream night
  lockstep run -- bash -c 'echo $RANK; hostname')";

int run(Context& context, const RunArguments& arguments) {
  auto spec = spec_of(arguments);
  if (!spec) return fail(context.terminal, spec.error(), kExitUsage);
  const auto connection = context.connect(Context::Need::nodes);
  if (!connection) return fail(context.terminal, connection.error(), kExitLockstepFailed);
  Submission submission;
  submission.spec = *std::move(spec);
  submission.directory = arguments.code.empty() ? "." : arguments.code;
  submission.directory_was_named = !arguments.code.empty();
  const int world_size = submission.spec.world_size();
  const auto job = submit(context, **connection, std::move(submission));
  if (!job) return fail(context.terminal, job.error(), kExitLockstepFailed);
  if (arguments.detach) return print_created(context, **connection, *job, arguments.format);
  return watch_to_end(context, **connection, *job, {true, arguments.quiet, world_size});
}

}  // namespace

int print_created(Context& context, Connection& connection, const JobId& job, Format format) {
  if (format == Format::table) {
    context.terminal.out(job.value + "\n");
    return 0;
  }
  const auto reply = connection.ask_for<JobReply>(ShowJob{job});
  if (!reply) return fail(context.terminal, reply.error());
  return print(context, format, to_json(reply->job), "");
}

namespace {

void say_how_it_ended(Context& context, const JobView& job, bool quiet) {
  if (job.status != JobStatus::completed) {
    context.terminal.err(failure_report(job));
  } else if (!quiet) {
    context.terminal.note(fmt::format("{}: Completed after {}", job.spec.name,
                                      format_duration(job.ended - job.submitted)));
  }
}

}  // namespace

int watch_to_end(Context& context, Connection& connection, const JobId& job,
                 const WatchOptions& options) {
  int world_size = options.world_size;
  if (world_size == 0) {
    const auto known = connection.ask_for<JobReply>(ShowJob{job});
    if (!known) return fail(context.terminal, known.error(), kExitLockstepFailed);
    world_size = known->job.spec.world_size();
  }
  FollowOptions follow;
  follow.job = job;
  follow.cancel_on_interrupt = options.cancel_on_interrupt;
  follow.show_state = !options.quiet;
  follow.single_rank = world_size == 1;
  hold_interrupts(true);
  const auto end =
      Follower(
          connection, context.terminal, [&context] { return context.find_endpoint(); }, follow)
          .run();
  if (!end) return fail(context.terminal, end.error(), kExitLockstepFailed);
  const std::string& name = job.value;
  switch (end->how) {
    case FollowEnd::How::finished: break;
    case FollowEnd::How::detached:
      context.terminal.note(
          fmt::format("left {0}; it goes on without us. Come back with: lockstep "
                      "job stream {0}",
                      name));
      return kExitInterrupted;
    case FollowEnd::How::output_closed:
      context.terminal.note(
          fmt::format("our output was closed; the job goes on. See: lockstep job "
                      "show {}",
                      name));
      return kExitOutputClosed;
  }
  say_how_it_ended(context, *end->job, options.quiet);
  return end->interrupted ? kExitInterrupted : exit_code_of(*end->job);
}

void add_run_verb(VerbTable table) {
  const auto arguments = std::make_shared<RunArguments>();
  auto* verb = table.app.add_subcommand(
      "run", "run [OPTIONS] -- COMMAND...: run a command as a job, to its end");
  verb->footer(kRunExamples);
  verb->add_option("-N,--nodes", arguments->nodes, "nodes (default 1)")
      ->check(CLI::Range(1, kMaxNodesPerJob));
  verb->add_option("-n,--ranks-per-node", arguments->ranks, "processes on each node (default 1)")
      ->check(CLI::Range(1, kMaxRanksPerNode));
  verb->add_option("--distribution", arguments->distribution, "mpi, pytorch or none (default)");
  verb->add_option("--code", arguments->code,
                   "source directory to take along (default: the current one)");
  verb->add_option("--env", arguments->env,
                   "NAME=VALUE, or NAME to take our value; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb->add_option("--name", arguments->name, "the job's name (default: a generated one)");
  verb->add_option("--timeout", arguments->timeout, "end it after this long: 90, 90s, 5m, 2h, 1d");
  verb->add_option("--cpus", arguments->cpus, "cpus on each node (default: all of the node)");
  verb->add_option("--memory", arguments->memory, "memory on each node, e.g. 4g (default: all)");
  verb->add_option("--gpus", arguments->gpus, "GPUs on each node (default: all)");
  verb->add_flag("--detach", arguments->detach,
                 "return at once; print the job's name, or all of it with -o");
  add_format(*verb, arguments->format);
  verb->add_flag("-q,--quiet", arguments->quiet, "show only the job's output, and failures");
  verb->callback([table, arguments] {
    if (table.command.empty())
      throw CLI::RequiredError(
          "COMMAND: write it behind --, as in: lockstep run -- python train.py");
    arguments->command = table.command;
    table.action = [arguments](Context& context) { return run(context, *arguments); };
  });
}

}  // namespace lockstep::cli
