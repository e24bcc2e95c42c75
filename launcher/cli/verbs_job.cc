#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "common/io/clock.h"
#include "launcher/api/json/job.h"
#include "launcher/cli/client_settings.h"
#include "launcher/cli/environment_choice.h"
#include "launcher/cli/pipeline_view.h"
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

struct JobOptions {
  std::string name;
  std::vector<std::string> names;  // of cancel
  std::string file;
  std::vector<std::string> overrides;
  std::string new_name;
  bool stream = false;
  bool rebuild = false;
  bool quiet = false;
  bool all_steps = false;  // of show
  Format format = Format::table;
};

Instant now() { return io::SystemClock().now(); }

// What is wrong with the job file, a line each.
int fail_with_all(Terminal& terminal, const Error& error) {
  for (const Error& fault : spec::faults_of(error)) terminal.print_line(fault.message);
  return kExitUsage;
}

int create(Context& context, const JobOptions& options) {
  const int otherwise = options.stream ? kExitLockstepFailed : kExitFailure;
  auto file = spec::load_job(options.file, options.overrides);
  if (!file) return fail_with_all(context.terminal, file.error());
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
  ComputeChoice target{file->spec.compute, file->compute_where};
  if (target.name.empty()) {
    auto chosen = default_compute(context.home);
    if (!chosen) return fail(context.terminal, chosen.error(), kExitUsage);
    target = *std::move(chosen);
    file->spec.compute = target.name;
  }
  const auto connection = context.connect(Context::Need::nodes);
  if (!connection) return fail(context.terminal, connection.error(), otherwise);
  if (const Status known = expect_compute(**connection, target); !known)
    return fail(context.terminal, known.error(), exit_code_for(known.error(), otherwise));
  if (file->environment) {
    auto resolved = resolve(**connection, *file->environment);
    if (!resolved) return fail(context.terminal, resolved.error(), otherwise);
    file->spec.environment = std::move(resolved->spec);
    if (!options.quiet) show_ignored(context.terminal, file->spec);
  }
  const int world_size = file->spec.world_size();
  const auto job = submit(context, **connection,
                          {std::move(file->spec), std::move(file->code_dir), true, options.rebuild,
                           std::move(file->build), std::move(file->data), options.quiet});
  if (!job) return fail(context.terminal, job.error(), otherwise);
  if (options.stream)
    return watch_to_end(context, **connection, *job,
                        {true, options.quiet, world_size, options.format});
  return print_created(context, **connection, *job, options.format, otherwise);
}

int show(Context& context, const JobOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto reply = (*connection)->ask_for<JobReply>(ShowJob{JobId(options.name)});
  if (!reply) return fail(context.terminal, reply.error());
  const JobView& job = reply->job;
  const auto columns = context.terminal.columns();
  const StepsShown shown{options.all_steps || !columns, columns};
  return print(context, options.format, api::to_json(job),
               (job.spec.is_pipeline() ? pipeline_text(job, now(), shown) : job_text(job, now())) +
                   failure_report(job));
}

int explain(Context& context, const JobOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto reply = (*connection)->ask_for<ExplainReply>(ExplainJob{JobId(options.name)});
  if (!reply) return fail(context.terminal, reply.error());
  return print(context, options.format, api::to_json(reply->explain), explain_text(reply->explain));
}

// Each of them is asked for, whatever becomes of the others.
int cancel(Context& context, const JobOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  int code = 0;
  for (const std::string& name : options.names) {
    const auto reply = (*connection)->ask_for<Done>(CancelJob{JobId(name)});
    if (!reply) {
      code = fail(context.terminal, reply.error());
    } else if (!reply->message.empty()) {
      context.terminal.print_line(reply->message);
    }
  }
  return code;
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
  verb->add_option("--set", options->overrides,
                   "KEY.KEY=VALUE, overrides the file; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb->add_option("-n,--name", options->new_name, "the job's name (overrides the file's)")
      ->check(filled("leave it out to take the file's"));
  verb->add_flag("--rebuild", options->rebuild, "solve and build the job's environment again");
  auto* stream = verb->add_flag("-s,--stream", options->stream,
                                "print the job's logs until the job ends; Ctrl-C cancels the job");
  verb->add_flag("-q,--quiet", options->quiet,
                 "with --stream: print only the ranks' output and failures")
      ->needs(stream);
  add_format(*verb, options->format, "print the job's record (with --stream, at the end)");
}

void add_show(CLI::App& group, VerbTable table, const std::shared_ptr<JobOptions>& options) {
  auto* verb =
      named(add_verb(group, table, options, "show", "show one job in full", show), options);
  verb->add_flag("--all-steps", options->all_steps,
                 "of a pipeline with many steps, also those that a terminal leaves out");
  add_format(*verb, options->format);
}

void add_cancel(CLI::App& group, VerbTable table, const std::shared_ptr<JobOptions>& options) {
  auto* verb = add_verb(group, table, options, "cancel", "cancel one or several jobs", cancel);
  auto* names = verb->add_option("-n,--name,NAME", options->names, "the jobs' names");
  names->check(filled("`lockstep job list` shows the names"));
  verb->parse_complete_callback([names] {
    if (names->count() == 0) throw CLI::RequiredError("NAME");
  });
}

}  // namespace

void add_job_verbs(VerbTable table) {
  CLI::App* const added = table.add("job", "create, look at and cancel jobs");
  if (added == nullptr) return;
  CLI::App& group = *added;
  const auto options = std::make_shared<JobOptions>();
  group.require_subcommand(1);
  add_create(group, table, options);
  add_list_verb(group, table);
  add_show(group, table, options);
  add_log_verbs(group, table);
  add_events_verb(group, table);
  add_download_verb(group, table);
  add_cancel(group, table, options);
  add_delete_verb(group, table);
  add_validate_verb(group, table);
  add_update_verb(group, table);
  add_share_verbs(group, table);
  add_resume_verb(group, table);
  add_files_verbs(group, table);
  add_format(*named(add_verb(group, table, options, "explain",
                             "show why a job waits, or why it runs where it does", explain),
                    options),
             options->format);
}

}  // namespace lockstep::cli
