#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <iterator>
#include <nlohmann/json.hpp>

#include "common/io/clock.h"
#include "launcher/cli/environment_choice.h"
#include "launcher/cli/submit.h"
#include "launcher/cli/verbs.h"
#include "launcher/cli/view_text.h"
#include "launcher/spec/job_file.h"

namespace lockstep::cli {

namespace {

constexpr const char* kCreateExamples = R"(
  lockstep job create -f job.yml --stream
  lockstep job create -f job.yml --set resources.instance_count=4 --set inputs.lr=0.01
Without --stream the job's name is printed (or the whole job, with -o).)";

constexpr int kJobsInTable = 50;  // unless told otherwise

struct JobOptions {
  std::string name;
  std::string file;
  std::vector<std::string> overrides;
  std::string new_name;
  bool stream = false;
  bool rebuild = false;
  bool quiet = false;
  std::optional<int> max_results;
  bool all_results = false;
  Format format = Format::table;
};

Instant now() { return io::SystemClock().now(); }

int create(Context& context, const JobOptions& options) {
  const int otherwise = options.stream ? kExitLockstepFailed : kExitFailure;
  auto file = spec::load_job(options.file, options.overrides);
  if (!file) return fail(context.terminal, file.error(), kExitUsage);
  if (!options.new_name.empty()) {
    if (const Status valid = validate_job_name(options.new_name); !valid)
      return fail(context.terminal, valid.error().within("--name"), kExitUsage);
    file->spec.name = options.new_name;
  }
  if (options.rebuild && !file->environment && !file->spec.environment)
    return fail(context.terminal,
                make_error(ErrorCode::invalid_argument,
                           options.file + ": has no 'environment', so there is none to --rebuild"),
                kExitUsage);
  if (!options.quiet) show(context.terminal, file->notes);
  const auto connection = context.connect(Context::Need::nodes);
  if (!connection) return fail(context.terminal, connection.error(), otherwise);
  if (file->environment) {
    auto resolved = resolve(**connection, *file->environment);
    if (!resolved) return fail(context.terminal, resolved.error(), otherwise);
    file->spec.environment = std::move(resolved->spec);
    if (!options.quiet) show_ignored(context.terminal, file->spec);
  }
  const int world_size = file->spec.world_size();
  const auto job = submit(context, **connection,
                          {std::move(file->spec), std::move(file->code_dir), true, options.rebuild,
                           std::move(file->build)});
  if (!job) return fail(context.terminal, job.error(), otherwise);
  if (options.stream)
    return watch_to_end(context, **connection, *job,
                        {true, options.quiet, world_size, options.format});
  return print_created(context, **connection, *job, options.format, otherwise);
}

// Page by page; `most` 0 = all.
Result<JobsReply> newest_jobs(Connection& connection, int most) {
  JobsReply all;
  do {
    ListJobs question;
    if (most > 0) question.limit = most - static_cast<int>(all.jobs.size());
    if (!all.jobs.empty()) question.after = JobId(all.jobs.back().spec.name);
    TRY_ASSIGN(JobsReply page, connection.ask_for<JobsReply>(question));
    std::move(page.jobs.begin(), page.jobs.end(), std::back_inserter(all.jobs));
    all.more = page.jobs.empty() ? 0 : page.more;
  } while (all.more > 0 && (most == 0 || all.jobs.size() < static_cast<std::size_t>(most)));
  return all;
}

int list(Context& context, const JobOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  // A person wants the newest; a script wants nothing left out that it did not ask to leave out.
  const bool all = options.all_results || options.format != Format::table;
  const auto listed =
      newest_jobs(**connection, options.max_results.value_or(all ? 0 : kJobsInTable));
  if (!listed) return fail(context.terminal, listed.error());
  print(context, options.format, to_json(listed->jobs), job_table(listed->jobs, now()));
  if (listed->more > 0)
    context.terminal.note(fmt::format(
        "these are the newest {} of {} jobs; --max-results N shows more, --all-results shows all",
        listed->jobs.size(), static_cast<std::int64_t>(listed->jobs.size()) + listed->more));
  return 0;
}

int show(Context& context, const JobOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto reply = (*connection)->ask_for<JobReply>(ShowJob{JobId(options.name)});
  if (!reply) return fail(context.terminal, reply.error());
  return print(context, options.format, to_json(reply->job),
               job_text(reply->job, now()) + failure_report(reply->job));
}

int explain(Context& context, const JobOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto reply = (*connection)->ask_for<ExplainReply>(ExplainJob{JobId(options.name)});
  if (!reply) return fail(context.terminal, reply.error());
  return print(context, options.format, to_json(reply->explain), explain_text(reply->explain));
}

int cancel(Context& context, const JobOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto reply = (*connection)->ask_for<Done>(CancelJob{JobId(options.name)});
  if (!reply) return fail(context.terminal, reply.error());
  if (!reply->message.empty()) context.terminal.note(reply->message);
  return 0;
}

using Verb = int (*)(Context&, const JobOptions&);

CLI::App* add_verb(CLI::App& group, VerbTable table, const std::shared_ptr<JobOptions>& options,
                   const char* name, const char* what, Verb work) {
  auto* verb = group.add_subcommand(name, what);
  verb->callback([table, options, work] {
    table.action = [options, work](Context& context) { return work(context, *options); };
  });
  return verb;
}

CLI::App* named(CLI::App* verb, const std::shared_ptr<JobOptions>& options) {
  auto* name = verb->add_option("-n,--name,NAME", options->name, "the job's name");
  name->check(filled("`lockstep job list` shows the names"));
  verb->parse_complete_callback([name] {
    if (name->count() == 0) throw CLI::RequiredError("NAME");
  });
  return verb;
}

void add_create(CLI::App& group, VerbTable table, const std::shared_ptr<JobOptions>& options) {
  auto* verb =
      add_verb(group, table, options, "create", "submit a job file (Azure ML v2 YAML)", create);
  verb->footer(kCreateExamples);
  verb->add_option("-f,--file", options->file, "the job file")
      ->required()
      ->check(filled("name the job file"));
  verb->add_option("--set", options->overrides, "KEY.KEY=VALUE, over the file; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb->add_option("-n,--name", options->new_name, "the job's name, over the file")
      ->check(filled("leave it out to take the file's"));
  verb->add_flag("--rebuild", options->rebuild, "solve and build its environment anew");
  auto* stream = verb->add_flag("-s,--stream", options->stream,
                                "wait for its end with its logs; Ctrl-C cancels it");
  verb->add_flag("-q,--quiet", options->quiet, "with --stream: only output, and failures")
      ->needs(stream);
  add_format(*verb, options->format, "print the job's record (with --stream, in the end)");
}

}  // namespace

void add_job_verbs(VerbTable table) {
  const auto options = std::make_shared<JobOptions>();
  auto& group = *table.app.add_subcommand("job", "create, look at and cancel jobs");
  group.require_subcommand(1);
  add_create(group, table, options);
  auto* list_verb = add_verb(group, table, options, "list", "jobs, newest first", list);
  auto* all = list_verb->add_flag("-a,--all-results", options->all_results, "all jobs");
  list_verb
      ->add_option("-r,--max-results,--limit", options->max_results,
                   "the newest so many (default: 50 in a table, all in json or yaml)")
      ->check(whole_number(1))
      ->excludes(all);
  add_format(*list_verb, options->format);
  add_format(*named(add_verb(group, table, options, "show", "one job in full", show), options),
             options->format);
  add_log_verbs(group, table);
  add_events_verb(group, table);
  add_download_verb(group, table);
  named(add_verb(group, table, options, "cancel", "end a job", cancel), options);
  add_delete_verb(group, table);
  add_format(*named(add_verb(group, table, options, "explain",
                             "why it runs where it does, or waits", explain),
                    options),
             options->format);
}

}  // namespace lockstep::cli
