#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "common/domain/targets/compute.h"
#include "launcher/cli/attach/rank_zero_terminal.h"
#include "launcher/cli/base/client_settings.h"
#include "launcher/cli/job/environment_choice.h"
#include "launcher/cli/job/file_request.h"
#include "launcher/cli/job/flags.h"
#include "launcher/cli/job/left_behind.h"
#include "launcher/cli/job/run_spec.h"
#include "launcher/cli/sbatch/batch_script.h"
#include "launcher/cli/scripts/distribution_notes.h"
#include "launcher/cli/submit/run_job.h"
#include "launcher/cli/submit/submit_and_watch.h"
#include "launcher/cli/verbs/submit/submit_verbs.h"

namespace lockstep::cli {

namespace {

constexpr const char* kRunExamples = R"(
The words after -- are run as they are, without a shell, once per rank:
  lockstep run -- python3 train.py --lr 0.1
  lockstep run -n 4 --distribution mpi -- ./hello
  lockstep run -N 2 -n 8 --distribution pytorch --gpus 8 -- python3 train_ddp.py
  lockstep run --detach --name night -- ./long.sh;  lockstep job stream night
  lockstep run -- bash -c 'echo $LOCKSTEP_RANK; hostname'
  lockstep run --array 0-19%4 -- ./eval.sh    twenty jobs, at most four at a time
  lockstep run -o json -- ./eval.sh > job.json   the ranks' output goes to standard error
  lockstep run --requirements requirements.txt -- python3 train.py  packages, on every node
  lockstep run --conda-file environment.yml -- python3 train.py       conda's, too
  lockstep run --sbatch job.sbatch                               a Slurm script, with its options
  lockstep run --input data=./set -- ./train.sh '${{inputs.data}}'   a copy on each node
  lockstep run --image debian:12 --shm-size 8g -- ./train.sh         in a container of this image
  lockstep run --pty -- bash                  a shell on a node, as a job; its end ends the job
  lockstep run --stdin -- ./sort.sh < numbers       rank 0 reads this command's standard input

Ctrl-C or SIGTERM cancels the job (its ranks get SIGTERM, and SIGKILL after a grace time) and waits
for its end; Ctrl-C again stops waiting. A closed terminal (SIGHUP) leaves the job running.

Exit codes: that of the first rank that failed; 124 timed out; 125 Lockstep failed or refused it;
126 not executable; 127 not found; 128+n killed by signal n; 129 SIGHUP (the job continues);
130 canceled or Ctrl-C; 141 standard output was closed; 1 the job would wait in vain for nodes;
2 the command line is wrong.)";

void say_what_is_left_behind(Context& context, const JobSpec& spec, bool has_environment) {
  // On other nodes than this one, nobody expects the environment of this shell.
  if (context.launcher.empty() && !has_environment)
    if (const auto note = python_left_behind(spec, Shell::ours()); !note.empty())
      context.terminal.print_line(note);
  const auto note = input_left_behind(STDIN_FILENO);
  if (spec.terminal == TerminalKind::none && !note.empty()) context.terminal.print_line(note);
}

// Shows notes about the job before anything is sent.
void say_what_to_know(Context& context, const RunArguments& arguments, const JobSpec& spec,
                      bool has_environment) {
  say_what_is_left_behind(context, spec, has_environment);
  const ReadSource read = source_reader(arguments.code.empty() ? "." : arguments.code);
  for (const std::string& note : distribution_notes(spec, read, arguments.sbatch))
    context.terminal.print_line(note);
}

// Reads the options in a Slurm script, and makes the script the command.
Result<RunArguments> with_script(Context& context, RunArguments arguments) {
  if (arguments.sbatch.empty()) return arguments;
  TRY_ASSIGN(const std::string text, spec::read_text_file(arguments.sbatch));
  TRY_ASSIGN(const auto notes, apply_sbatch(arguments.sbatch, text, arguments));
  if (!arguments.quiet)
    for (const std::string& note : notes) context.terminal.print_line(note);
  return arguments;
}

int fail_with_flags(Context& context, const RunArguments& arguments, const RunJob& job,
                    const std::vector<Error>& errors) {
  for (const Error& error : errors) fail_with_all(context.terminal, error);
  if (!job.spec.compute.empty() && !check_compute_name(job.spec.compute)) return kExitUsage;
  for (const std::string& error : faults_at_launcher(context, question_of(arguments, job)))
    context.terminal.print_line(error);
  return kExitUsage;
}

int run(Context& context, const RunArguments& given) {
  const auto read = with_script(context, given);
  if (!read) return fail(context.terminal, read.error().within("run: --sbatch"), kExitUsage);
  const RunArguments& arguments = *read;
  std::vector<Error> errors;
  RunJob job = read_job(context, arguments, errors);
  if (!errors.empty()) return fail_with_flags(context, arguments, job, errors);
  if (!arguments.quiet) show(context.terminal, job.notes);
  if (!arguments.quiet) say_what_to_know(context, arguments, job.spec, job.environment.has_value());
  const auto connection = context.connect(Context::Need::nodes);
  if (!connection) return fail(context.terminal, connection.error(), kExitLockstepFailed);
  const CheckJobFile question = question_of(arguments, job);
  const auto refused = [&](const Error& error, int code) {
    return fail_with_all_of(context, **connection, question, error, code);
  };
  if (const Status known = expect_compute(**connection, job.target); !known)
    return refused(known.error(), exit_code_for(known.error(), kExitLockstepFailed));
  if (job.environment) {
    auto resolved = resolve(**connection, *job.environment);
    if (!resolved) return refused(resolved.error(), kExitLockstepFailed);
    job.spec.environment = std::move(resolved->spec);
    job.build = std::move(resolved->build);
    if (!arguments.quiet) show_ignored(context.terminal, job.spec);
  }
  WatchOptions watch{true, arguments.quiet, 0, arguments.format, arguments.raw};
  RankZeroTerminal rank_zero(**connection, context.terminal, arguments.terminal);
  connect_rank_zero(context, rank_zero, arguments.terminal, watch);
  return submit_and_watch(context, **connection, submission_of(arguments, std::move(job)), watch,
                          kExitLockstepFailed,
                          [&](const Error& error) { refused(error, kExitLockstepFailed); });
}

// The nodes that may run the job.
void add_placement_options(CLI::App& verb, RunArguments& arguments) {
  verb.add_option("--instance-type", arguments.instance_type,
                  "run on a target with this size, if no target is named")
      ->check(filled("`lockstep compute list-sizes` shows the sizes"));
  verb.add_flag("--isolated", arguments.isolated, "nobody else may use the same machines");
  verb.add_option("--rdma", arguments.rdma,
                  "required: only nodes in one RDMA fabric; preferred: these first; off (default)")
      ->check(filled("leave it out for off"));
  verb.add_option("--label", arguments.labels,
                  "KEY=VALUE that each node must have (`lockstep node label`); may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb.add_option("-w,--nodelist", arguments.nodelist,
                  "only these nodes, with commas between them; without -N on all of them")
      ->check(filled("`lockstep node list` shows the names"));
}

// Adds the options for watching running ranks, and for what is done after one has crashed.
void add_trouble_options(CLI::App& verb, RunArguments& arguments) {
  verb.add_option("--hang-after", arguments.hang_after,
                  "look for what ranks wait for when none has made progress for this time (default "
                  "2m); off: never")
      ->check(filled("leave it out for 2m"));
  verb.add_option("--on-hang", arguments.on_hang,
                  "what a hang does: report (default), stacks (keeps them, too), fail or retry")
      ->check(filled("leave it out for report"));
  verb.add_option("--core", arguments.core,
                  "of a rank that a signal ended: off (default), backtrace: say where, or keep its "
                  "core file, too")
      ->check(filled("leave it out for off"));
}

void add_environment_options(CLI::App& verb, RunArguments& arguments) {
  verb.add_option("--environment", arguments.environment,
                  "NAME:VERSION, NAME@latest, an Azure ML address, or an environment file")
      ->check(filled("leave it out to use each node's PATH unchanged"));
  verb.add_option("--interpreter", arguments.interpreter,
                  "run with this Python of each node: a path, or a name on PATH")
      ->check(filled("leave it out to use each node's PATH unchanged"));
  verb.add_option("--requirements", arguments.requirements,
                  "use an environment with the packages of this requirements file")
      ->check(filled("name the requirements file"));
  verb.add_option("--pip", arguments.pip,
                  "use an environment with this package, written as for pip; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(filled("write a requirement, such as numpy==1.26.4"));
  verb.add_option("--conda-file", arguments.conda_file,
                  "use an environment made from this conda file: environment.yml, or a lock file")
      ->check(filled("name the conda file"));
  verb.add_option("--image", arguments.image,
                  "run in a container of this image; --conda-file adds packages to it")
      ->check(filled("name the image, such as debian:12"));
  verb.add_option("--shm-size", arguments.shm_size,
                  "the size of /dev/shm in the container (default 2g)")
      ->check(filled("leave it out for 2g"));
  verb.add_option("--docker-args", arguments.docker_args,
                  "options of `docker run` for the container, in one text, quoted as in a shell")
      ->check(filled("leave it out to add none"));
  verb.add_flag("--rebuild", arguments.rebuild, "solve and build the environment again");
}

// How many ranks run, how they find each other, and which program they run.
void add_rank_options(CLI::App& verb, RunArguments& arguments) {
  verb.add_option("-N,--nodes", arguments.nodes, "nodes (default 1)")
      ->check(whole_number(1, kMaxNodesPerJob));
  verb.add_option("-n,--ranks-per-node", arguments.ranks,
                  "ranks (processes) on each node (default 1); in Slurm, -n is the number of all "
                  "ranks of a job")
      ->check(whole_number(1, kMaxRanksPerNode));
  verb.add_option("--distribution", arguments.distribution,
                  "what the ranks are told of each other (default none)")
      ->type_name("mpi|pytorch|tensorflow|ray|none");
  verb.add_option("--code", arguments.code,
                  "source directory to upload, or one file (default: the current directory)")
      ->check(filled("leave it out to take the current directory"));
}

// The variables of the ranks.
void add_variable_options(CLI::App& verb, RunArguments& arguments) {
  verb.add_option("-e,--env", arguments.env,
                  "NAME to pass on its value in this shell, or NAME=VALUE, which `ps` shows to "
                  "every user of this machine; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb.add_option("--env-file", arguments.env_files,
                  "read variables from this file, in docker's format: one NAME=VALUE or NAME per "
                  "line; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(filled("name the file"));
  verb.add_option("--secret", arguments.secrets,
                  "SECRET or VARIABLE=SECRET: set a variable to one of your secrets, see "
                  "`lockstep secret`; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(filled("`lockstep secret list` shows the names"));
}

// Adds the options for when the job may start, how often it runs, and for how long.
void add_time_options(CLI::App& verb, RunArguments& arguments) {
  verb.add_option("--timeout", arguments.timeout,
                  "end the job after this time: 90, 90s, 5m, 2h, 1d")
      ->check(filled("leave it out to set no limit"));
  verb.add_option("--priority", arguments.priority,
                  "low, medium (default) or high: which of the jobs that wait go first")
      ->check(priority_word());
  verb.add_option("--after", arguments.after,
                  "start only when this job has completed; NAME:ended: when it has ended in any "
                  "way; may be repeated, or several names separated by commas")
      ->expected(1)
      ->delimiter(',')
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(job_name("name the job; `lockstep job list` shows all"));
  verb.add_option("--array", arguments.array,
                  "run the command once for each index: 0-19, 1,3,7, 0-100:5; 0-19%4 runs at most "
                  "4 at a time. Each reads $LOCKSTEP_ARRAY_INDEX")
      ->check(filled("write the indices, such as 0-19"));
  verb.add_option("--begin", arguments.begin,
                  "start only then: a time from now (90s, 5m, 2h), or 2026-11-26T18:00:00Z")
      ->check(filled("leave it out to start as soon as nodes are free"));
}

// The part of each node that the job holds.
void add_size_options(CLI::App& verb, RunArguments& arguments) {
  verb.add_option("--cpus", arguments.cpus, "cpus on each node (default: all of the node)")
      ->check(whole_number(1));
  verb.add_option("--memory", arguments.memory, "memory on each node, e.g. 4g (default: all)")
      ->check(filled("leave it out to hold all"));
  verb.add_option("--gpus", arguments.gpus, "GPUs on each node, 0 for none (default: all)")
      ->check(whole_number(0));
}

// The most that a rank or a node may use.
void add_limit_options(CLI::App& verb, RunArguments& arguments) {
  verb.add_option("--pids-limit", arguments.pids_limit,
                  "processes and threads that each rank may have (default: 4096)")
      ->check(whole_number(kLeastPidsLimit, kMostPidsLimit));
  verb.add_flag("--require-limits", arguments.require_limits,
                "run only where the job's limits of memory and processes can be enforced");
  verb.add_option("--log-limit", arguments.log_limit,
                  "how much of the ranks' output on each node is kept (default: 16g)")
      ->check(filled("leave it out to keep 16g"));
  verb.add_option(
          "--disk-limit", arguments.disk_limit,
          "end the job when its folders on a node hold more than this (default: the node's limit)")
      ->check(filled("leave it out for what the node allows"));
}

// Files that attempts and jobs leave for later ones, and when another attempt follows.
void add_attempt_options(CLI::App& verb, RunArguments& arguments) {
  verb.add_option("--keep", arguments.keep,
                  "also keep these files of the working directory, not only outputs/: '*.pt', "
                  "checkpoints/, /a/b.csv, as in .gitignore; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(filled("name the files, such as '*.pt' or checkpoints/"));
  verb.add_option("--from-checkpoint-of", arguments.from_checkpoint_of,
                  "start with the newest checkpoint of this job in $LOCKSTEP_CHECKPOINT_DIR")
      ->check(job_name("name the job; `lockstep job list` shows all"));
  verb.add_option("--retry", arguments.retry, "further attempts, 0 for none (default: 3)")
      ->check(whole_number(0, kMaxRetries));
  verb.add_option(
          "--retry-on", arguments.retry_on,
          "which failures to retry, separated by commas: infrastructure (the default), node_lost, "
          "runner_lost, out_of_memory, signal, timeout, exit_code, exit codes, never")
      ->check(filled("leave it out to retry only infrastructure failures"));
}

// Adds the options for the command's output, and for when it returns.
void add_output_options(CLI::App& verb, RunArguments& arguments) {
  verb.add_flag("-d,--detach", arguments.detach,
                "return at once; print the job's name, or its record with -o");
  add_format(verb, arguments.format, "print the job's record at the end: json or yaml",
             &arguments.outputs);
  verb.add_flag("-q,--quiet", arguments.quiet, "show only the job's output, and failures");
  add_raw(verb, arguments.raw);
}

// The terminal or input that rank 0 has. Callbacks of the flags share `arguments`.
void add_terminal_options(CLI::App& verb, const std::shared_ptr<RunArguments>& arguments) {
  auto* pty = verb.add_flag_callback(
      "--pty", [arguments] { arguments->terminal = TerminalKind::pty; },
      "rank 0 has this terminal; other ranks' output is in `job logs`");
  verb.add_flag_callback(
          "--stdin", [arguments] { arguments->terminal = TerminalKind::input; },
          "rank 0 reads this command's standard input")
      ->excludes(pty);
}

}  // namespace

void add_run_verb(VerbTable table) {
  const auto arguments = std::make_shared<RunArguments>();
  CLI::App* const verb =
      table.add("run", "run [OPTIONS] -- COMMAND...: run a command as a job, and wait for its end");
  if (verb == nullptr) return;
  verb->footer(kRunExamples);
  // `--help` lists the options in this order.
  add_rank_options(*verb, *arguments);
  add_variable_options(*verb, *arguments);
  verb->add_option("--project", arguments->project, "the job's project (default: default)")
      ->check(filled("leave it out for the project default"));
  add_job_flags(*verb, *arguments);
  verb->add_option("--name", arguments->name, "the job's name (default: a generated one)")
      ->check(filled("leave it out to get a generated name"));
  add_time_options(*verb, *arguments);
  add_size_options(*verb, *arguments);
  add_placement_options(*verb, *arguments);
  add_limit_options(*verb, *arguments);
  add_attempt_options(*verb, *arguments);
  add_trouble_options(*verb, *arguments);
  add_environment_options(*verb, *arguments);
  add_output_options(*verb, *arguments);
  add_terminal_options(*verb, arguments);
  verb->add_option(
          "--binding", arguments->binding,
          "which of the job's cpus each rank may use: auto (default: a share), none (all), "
          "numa (a NUMA node's) or core (one core)")
      ->check(filled("leave it out for auto"));
  verb->add_option("--sbatch", arguments->sbatch,
                   "run this Slurm script; its #SBATCH lines are options, those given here win")
      ->check(filled("name the script"));
  verb->callback([table, arguments] {
    if (table.command.empty() && arguments->sbatch.empty())
      throw CLI::ValidationError(
          "run", "there is no COMMAND; write it after --, as in: lockstep run -- python3 train.py");
    arguments->command = table.command;
    table.action = [arguments](Context& context) { return run(context, *arguments); };
  });
}

}  // namespace lockstep::cli
