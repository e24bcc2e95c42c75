#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "common/domain/job/pipeline.h"
#include "launcher/api/json/environment.h"
#include "launcher/api/json/job.h"
#include "launcher/cli/base/step_choice.h"
#include "launcher/cli/follow/follower.h"
#include "launcher/cli/job/environment_choice.h"
#include "launcher/cli/local/past_launcher.h"
#include "launcher/cli/submit/submit_and_watch.h"
#include "launcher/cli/text/environment_view.h"
#include "launcher/cli/verbs/names/environment_prepare.h"
#include "launcher/cli/verbs/names/name_verbs.h"
#include "launcher/cli/verbs/names/registry_verbs.h"
#include "launcher/files/environment/conda_lock.h"
#include "launcher/files/yaml/named_text.h"

namespace lockstep::cli {

namespace {

constexpr const char* kCreateExamples = R"(
  lockstep environment create -f env.yml
  lockstep environment create -f env.yml --name tools --version 3
  lockstep environment create -f environment.yml              a conda file, or its lock file
A version keeps its definition. If no version is given, a changed one gets the next number.)";
constexpr const char* kPrepareExamples = R"(
  lockstep environment prepare -f tools@latest             on all nodes that can take jobs
  lockstep environment prepare -f env.yml --nodes 2
This submits a job that runs `true`; the exit codes are those of `lockstep run`.)";

Error wrong(std::string message) {
  return make_error(ErrorCode::invalid_argument, "environment " + std::move(message));
}

Result<spec::ReadEnvironment> environment_to_create(const EnvironmentOptions& options,
                                                    spec::Notes& notes) {
  TRY_ASSIGN(const spec::NamedText file,
             spec::read_named_text(options.file, Bytes{spec::kMaxCondaBytes}));
  TRY_ASSIGN(auto read, spec::load_environment(
                            file.name, spec::with_text_of(file, spec::read_text_file), notes));
  if (read.build) TRY(spec::find_build(*read.build));
  EnvironmentSpec& spec = read.environment.spec;
  if (!options.name.empty()) {
    TRY(validate_environment_name("--name", options.name));
    spec.name = options.name;
  }
  if (!options.version.empty()) {
    TRY(validate_environment_name("--version", options.version));
    spec.version = options.version;
  }
  if (spec.name.empty())
    return make_error(ErrorCode::invalid_argument,
                      file.name + ": has no 'name'; write one, or give --name");
  return read;
}

int create(Context& context, const EnvironmentOptions& options) {
  spec::Notes notes;
  auto read = environment_to_create(options, notes);
  if (!read) return fail_with_all(context.terminal, read.error());
  show(context.terminal, notes);
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  if (read->build)
    if (const Status sent = send_build(context, **connection, *read->build, read->environment.spec);
        !sent)
      return fail(context.terminal, sent.error());
  const auto reply =
      (*connection)
          ->ask_for<EnvironmentReply>(
              CreateEnvironment{std::move(read->environment), options.project}, kSubmitTimeout);
  if (!reply) return fail(context.terminal, reply.error());
  const EnvironmentSpec& spec = reply->environment.environment.spec;
  return print(context, options.format, api::to_json(reply->environment),
               spec.name + ":" + spec.version + "\n");
}

int list(Context& context, const EnvironmentOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  ListEnvironments question{options.name, ArchivedToo::no};
  if (options.include_archived) question.archived = ArchivedToo::yes;
  if (options.archived_only) question.archived = ArchivedToo::only;
  const auto reply = (*connection)->ask_for<EnvironmentsReply>(question);
  if (!reply) return fail(context.terminal, reply.error());
  return print(context, options.format, api::to_json(reply->environments),
               environment_table(reply->environments));
}

// Reads NAME with --version or --label, as in az, or all in one word.
Result<std::string> reference_of(const EnvironmentOptions& options) {
  constexpr std::string_view kScheme = "azureml:";
  std::string name = options.name;
  if (name.starts_with(kScheme) && !name.starts_with("azureml://")) name.erase(0, kScheme.size());
  const bool complete = name.find_first_of(":@") != std::string::npos;
  if (complete && !(options.version.empty() && options.label.empty()))
    return wrong(fmt::format("show: '{}' already names the version; leave {} out", options.name,
                             options.version.empty() ? "--label" : "--version"));
  if (!options.label.empty() && options.label != "latest")
    return make_error(ErrorCode::unsupported,
                      fmt::format("environment show: --label '{}' is not supported yet; only "
                                  "latest is",
                                  options.label));
  if (!complete) TRY(validate_environment_name("environment show: NAME", name));
  return options.version.empty() ? name : name + ":" + options.version;
}

int show(Context& context, const EnvironmentOptions& options) {
  const auto reference = reference_of(options);
  if (!reference) return fail(context.terminal, reference.error(), kExitUsage);
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto reply = (*connection)->ask_for<EnvironmentReply>(ShowEnvironment{*reference});
  if (!reply) return fail(context.terminal, reply.error());
  return print(context, options.format, api::to_json(reply->environment),
               environment_text(reply->environment));
}

int prune(Context& context, const EnvironmentOptions& options) {
  const Duration unused_for = parse_duration(options.unused_for);
  if (unused_for < Duration::zero())
    return fail(context.terminal,
                wrong(fmt::format("prune: --unused-for '{}' is not a time; write seconds, or 90s, "
                                  "5m, 2h, 7d",
                                  options.unused_for)),
                kExitUsage);
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto reply = (*connection)->ask_for<Done>(PruneEnvironments{unused_for});
  if (!reply) return fail(context.terminal, reply.error());
  if (options.format == Format::table) {
    context.terminal.print_line(reply->message);
    return 0;
  }
  return print(context, options.format, api::to_json(*reply), "");
}

// Checks that the job has a log of its environment, and one of the requested node rank.
Status check_log(Connection& connection, const JobSpec& spec, const EnvironmentOptions& options) {
  if (spec.is_pipeline()) {
    const bool is_array = !spec.pipeline->array.empty();
    return wrong(
        fmt::format("log: {0} is {1}, and its environments are those of its {2}s' jobs; "
                    "name one as {0}/{3}",
                    spec.name, is_array ? "an array" : "a pipeline", is_array ? "task" : "step",
                    is_array ? "INDEX" : "STEP"));
  }
  // A reader who may see the job but not read it gets a job without its environment. This request
  // fails for such a reader.
  if (!spec.environment) {
    TRY(connection.ask_for<EventsReply>(ListEvents{JobId(spec.name), Instant::never()}));
    return wrong(fmt::format("log: {} has no environment; its ranks use each node's PATH as it is",
                             spec.name));
  }
  const int nodes = spec.resources.instance_count;
  if (options.node_rank && *options.node_rank >= nodes)
    return wrong(fmt::format("log: {0} has no node rank {2}; its node ranks are 0 to {1}",
                             spec.name, nodes - 1, *options.node_rank));
  return {};
}

int log(Context& context, const EnvironmentOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto job = chosen_job(**connection, context.terminal, "environment log", options.job, "",
                              "environment's log this is");
  if (!job) return fail(context.terminal, job.error());
  const JobSpec& spec = job->spec;
  if (const Status good = check_log(**connection, spec, options); !good)
    return fail(context.terminal, good.error(), spec.environment ? kExitUsage : kExitFailure);
  FollowOptions follow;
  follow.how_to_start = [&context] { return how_to_start(context.home); };
  follow.job = JobId(spec.name);
  follow.show_state = false;
  follow.until_final = options.follow;
  follow.filter.stream = LogStream::environment;
  follow.filter.node_rank = options.node_rank;
  follow.raw = options.raw;
  follow.single_log = spec.resources.instance_count == 1 || options.node_rank.has_value();
  if (options.follow) hold_interrupts(true);
  const auto end =
      Follower(
          **connection, context.terminal, [&context] { return context.find_endpoint(); }, follow)
          .run();
  if (!end) return fail(context.terminal, end.error());
  if (end->how == FollowEnd::How::hung_up) return kExitHungUp;
  return end->how == FollowEnd::How::detached ? kExitInterrupted : 0;
}

using Verb = int (*)(Context&, const EnvironmentOptions&);
using Options = std::shared_ptr<EnvironmentOptions>;

CLI::App& add_verb(CLI::App& group, VerbTable table, const Options& options, const char* name,
                   const char* what, Verb work) {
  auto* verb = group.add_subcommand(name, what);
  verb->callback([table, options, work] {
    table.action = [options, work](Context& context) { return work(context, *options); };
  });
  return *verb;
}

void require(CLI::App& verb, CLI::Option* option, const char* name) {
  verb.parse_complete_callback([option, name] {
    if (option->count() == 0) throw CLI::RequiredError(name);
  });
}

void add_create(CLI::App& group, VerbTable table, const Options& options) {
  auto& verb =
      add_verb(group, table, options, "create", "register an environment under a name", create);
  verb.footer(kCreateExamples);
  verb.add_option("-f,--file", options->file,
                  "the environment file, or a conda file; -: standard input")
      ->required()
      ->check(filled("name the environment file"));
  verb.add_option("-n,--name", options->name, "the environment's name (overrides the file's)")
      ->check(filled("leave it out to take the file's"));
  verb.add_option("-v,--version", options->version,
                  "the environment's version (overrides the file's)")
      ->check(filled("leave it out to take the file's, or the next number"));
  verb.add_option("--project", options->project,
                  "for a new name: the project whose members see it (default: the project of which "
                  "you are a submitter; if there is none or more than one, the project 'default')")
      ->check(filled("leave it out for your own"));
  add_format(verb, options->format);
}

void add_looks(CLI::App& group, VerbTable table, const Options& options) {
  auto& list_verb =
      add_verb(group, table, options, "list", "list the newest version of each environment", list);
  list_verb.add_option("-n,--name", options->name, "list all versions of this environment")
      ->check(filled("leave it out to see all"));
  auto* only =
      list_verb.add_flag("--archived-only", options->archived_only, "only archived versions");
  list_verb.add_flag("--include-archived", options->include_archived, "archived versions too")
      ->excludes(only);
  add_format(list_verb, options->format);
  auto& show_verb =
      add_verb(group, table, options, "show",
               "show one environment: NAME (the newest), NAME:VERSION or NAME@latest", show);
  auto* name = show_verb.add_option("-n,--name,NAME", options->name, "the environment's name");
  name->check(filled("`lockstep environment list` shows the names"));
  require(show_verb, name, "NAME");
  auto* version =
      show_verb.add_option("-v,--version", options->version, "the environment's version");
  version->check(filled("leave it out for the newest"));
  show_verb.add_option("-l,--label", options->label, "latest: the newest")->excludes(version);
  add_format(show_verb, options->format);
}

void add_prepare(CLI::App& group, VerbTable table, const Options& options) {
  auto& verb =
      add_verb(group, table, options, "prepare", "build an environment on nodes now", prepare);
  verb.footer(kPrepareExamples);
  verb.add_option("-f,--file", options->file,
                  "an environment file, or NAME:VERSION, NAME@latest; -: standard input")
      ->required()
      ->check(filled("name the environment"));
  verb.add_option("-N,--nodes", options->nodes,
                  "the number of nodes (default: all that can take jobs)")
      ->check(whole_number(1, kMaxNodesPerJob));
  verb.add_option("--project", options->project, "the project of the job (default: default)")
      ->check(filled("leave it out for the project default"));
  verb.add_flag("--rebuild", options->rebuild, "solve and build the environment again");
  verb.add_flag("-q,--quiet", options->quiet, "print only failures");
  add_wait_anyway(verb, options->wait_anyway);
  add_format(verb, options->format, "print the job's record at the end: json or yaml");
}

void add_log(CLI::App& group, VerbTable table, const Options& options) {
  auto& verb = add_verb(group, table, options, "log",
                        "show how a job's environment was solved and built", log);
  auto* name = verb.add_option("-n,--name,JOB", options->job, "the job's name");
  name->check(job_name());
  require(verb, name, "JOB");
  verb.add_option("--node-rank", options->node_rank, "only this node (its rank in the job)")
      ->check(whole_number(0));
  verb.add_flag("-f,--follow", options->follow, "keep printing new lines until the job ends");
  add_raw(verb, options->raw);
}

}  // namespace

void add_environment_verbs(VerbTable table) {
  CLI::App* const added = table.add(
      "environment", "register, show and build environments: interpreters and packages of jobs");
  if (added == nullptr) return;
  CLI::App& group = *added;
  const auto options = std::make_shared<EnvironmentOptions>();
  group.require_subcommand(1);
  add_create(group, table, options);
  add_looks(group, table, options);
  add_prepare(group, table, options);
  auto& prune_verb =
      add_verb(group, table, options, "prune", "remove unused environments from the nodes", prune);
  prune_verb
      .add_option("--unused-for", options->unused_for,
                  "only environments unused for at least this long (default 7d)")
      ->check(filled("leave it out for 7d"));
  add_format(prune_verb, options->format);
  add_log(group, table, options);
  add_environment_archive_verbs(group, table);
  add_version_update_verb(group, table, NameKind::environment);
  add_name_verbs(group, table, NameKind::environment);
}

}  // namespace lockstep::cli
