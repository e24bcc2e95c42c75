// `job create`: submits a job file, or with --dry-run shows what it would run.

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "common/domain/job/pipeline.h"
#include "common/grammar/job_name.h"
#include "launcher/cli/base/client_settings.h"
#include "launcher/cli/job/environment_choice.h"
#include "launcher/cli/job/file_request.h"
#include "launcher/cli/job/flags.h"
#include "launcher/cli/scripts/distribution_notes.h"
#include "launcher/cli/submit/component_store.h"
#include "launcher/cli/submit/submit_and_watch.h"
#include "launcher/cli/text/dry_run.h"
#include "launcher/cli/verbs/submit/submit_verbs.h"
#include "launcher/files/job_file.h"

namespace lockstep::cli {

namespace {

constexpr const char* kCreateExamples = R"(
  lockstep job create -f job.yml --stream
  lockstep job create -f job.yml --set resources.instance_count=4 --set inputs.lr=0.01
  lockstep job create -f job.yml --input lr=0.01 --input data=./faces --compute gpu-cluster
  lockstep job create -f pipeline.yml --set jobs.train.inputs.lr=0.1
  lockstep job create -f pipeline.yml --dry-run      the steps in order; submits nothing
  lockstep job create -f job.yml --stream --grace 60 --signal USR1@120   time to save
  generate-job | lockstep job create -f -            the file comes from standard input
Without --stream the job's name is printed (or the whole job, with -o).)";

struct CreateOptions {
  std::string file;
  std::vector<std::string> overrides;
  JobFlags flags;
  std::string new_name;
  bool stream = false;
  bool rebuild = false;
  bool quiet = false;
  bool dry_run = false;
  Format format = Format::table;
};

Status check_rebuild(const std::string& path, const spec::JobFile& file) {
  if (file.spec.pipeline)
    return make_error(ErrorCode::unsupported,
                      "--rebuild: " + path +
                          " is a pipeline or a job array, whose environments are built when a step "
                          "needs them; use `lockstep environment prepare --rebuild` before");
  if (file.environment || file.spec.environment) return {};
  return make_error(ErrorCode::invalid_argument,
                    path + ": has no 'environment', so there is none to --rebuild");
}

// Applies flags that change the file's values. All errors are reported, one per line.
Status apply_options(const CreateOptions& options, ReadJobFile& read) {
  spec::Faults faults;
  const auto add = [&](const Status& status) { faults.add({}, status); };
  if (!options.new_name.empty()) {
    if (const Status valid = validate_job_name(options.new_name); !valid)
      add(valid.error().within("--name"));
    else
      add_override(read, "name=" + options.new_name, "--name " + options.new_name);
  }
  if (!read.parsed) {
    add(check_flags(options.flags));
    return faults.status();
  }
  if (!options.new_name.empty()) read.parsed->spec.name = options.new_name;
  add(apply_to_file(options.flags, *read.parsed));
  if (options.rebuild) add(check_rebuild(read.request.name, *read.parsed));
  return faults.status();
}

// Uses the user's default target if none is named, also in steps.
Result<ComputeChoice> choose_compute(Context& context, spec::JobFile& file) {
  ComputeChoice target{file.spec.compute, file.compute_where};
  if (target.name.empty()) {
    TRY_ASSIGN(target, default_compute(context.home));
    file.spec.compute = target.name;
  }
  if (!file.spec.pipeline || target.name.empty()) return target;
  PipelineSpec pipeline = *file.spec.pipeline;
  for (PipelineStep& step : pipeline.steps)
    if (step.spec.compute.empty()) step.spec.compute = target.name;
  file.spec.pipeline = std::move(pipeline);
  return target;
}

// Checks that the launcher has each target that the job or a step names.
Status expect_computes(Connection& connection, const spec::JobFile& file,
                       const ComputeChoice& target) {
  std::map<std::string, std::string> targets;  // the place where each name is used
  if (!file.spec.pipeline) targets[target.name] = target.where;
  for (std::size_t i = 0; i < file.steps.size(); ++i) {
    const std::string& name = file.spec.pipeline->steps[i].spec.compute;
    const std::string& where = file.steps[i].compute_where;
    targets.emplace(name, where.empty() ? target.where : where);
  }
  for (const auto& [name, where] : targets) TRY(expect_compute(connection, {name, where}));
  return {};
}

// Requests named environments from the launcher, each name once.
class EnvironmentResolver {
 public:
  explicit EnvironmentResolver(Connection& connection) : connection_(connection) {}

  Status resolve_all(spec::JobFile& file) {
    TRY(resolve_one(file.environment, file.spec));
    if (!file.spec.pipeline) return {};
    PipelineSpec pipeline = *file.spec.pipeline;
    for (std::size_t i = 0; i < file.steps.size(); ++i)
      TRY(resolve_one(file.steps[i].environment, pipeline.steps[i].spec));
    file.spec.pipeline = std::move(pipeline);
    return {};
  }

 private:
  Status resolve_one(const std::optional<spec::EnvironmentReference>& reference, JobSpec& spec) {
    if (!reference) return {};
    const auto known = known_.find(reference->text);
    if (known == known_.end()) {
      TRY_ASSIGN(ResolvedEnvironment resolved, resolve(connection_, *reference));
      spec.environment = known_.emplace(reference->text, std::move(resolved.spec)).first->second;
    } else {
      spec.environment = known->second;
    }
    return {};
  }

  Connection& connection_;
  std::map<std::string, EnvironmentSpec> known_;
};

snapshot::Links links_of(bool keep) {
  return keep ? snapshot::Links::keep : snapshot::Links::follow;
}

// Notes on the job or its steps; equal notes of several steps appear once.
spec::Notes notes_on_ranks(const spec::JobFile& file) {
  const auto notes_of = [](const JobSpec& spec, const std::optional<std::string>& code) {
    return distribution_notes(
        spec, code ? source_reader(*code)
                   : [](const std::string&) { return std::optional<std::string>(); });
  };
  if (!file.spec.pipeline) return notes_of(file.spec, file.code_dir);
  spec::Notes notes;
  for (std::size_t i = 0; i < file.steps.size(); ++i)
    for (std::string& note : notes_of(file.spec.pipeline->steps[i].spec, file.steps[i].code_dir))
      if (std::find(notes.begin(), notes.end(), note) == notes.end())
        notes.push_back(std::move(note));
  return notes;
}

Submission submission_of(const CreateOptions& options, spec::JobFile file) {
  Submission submission;
  submission.spec = std::move(file.spec);
  submission.directory = std::move(file.code_dir);
  submission.directory_was_named = true;
  submission.rebuild = options.rebuild;
  submission.build = std::move(file.build);
  submission.includes = std::move(file.includes);
  submission.data = std::move(file.data);
  submission.quiet = options.quiet;
  submission.waits = options.stream;
  submission.wait_anyway = options.flags.wait_anyway;
  submission.links = links_of(file.keep_links);
  for (spec::StepFiles& step : file.steps)
    submission.steps.push_back({std::move(step.code_dir), std::move(step.build),
                                std::move(step.data), true, std::move(step.includes),
                                links_of(step.keep_links)});
  return submission;
}

int show_plan(Context& context, const CreateOptions& options, const std::string& name,
              const spec::JobFile& file) {
  const int shown = print(context, options.format, plan_json(name, file), plan_text(file));
  context.terminal.print_line("nothing was submitted (--dry-run)");
  return shown;
}

int create(Context& context, const CreateOptions& options) {
  const int otherwise = options.stream ? kExitLockstepFailed : kExitFailure;
  ReadJobFile read =
      read_job_file(options.file, options.overrides, options.flags, component_finder(context));
  auto& file = read.parsed;
  const Status of_flags = apply_options(options, read);
  if (!file || !of_flags) return fail_with_faults(context, read, of_flags);
  if (!options.quiet) show(context.terminal, file->notes);
  if (!options.quiet) show(context.terminal, notes_on_ranks(*file));
  const auto target = choose_compute(context, *file);
  if (!target) return fail(context.terminal, target.error(), kExitUsage);
  if (const Status chosen = choose_experiment(context.home, file->spec); !chosen)
    return fail(context.terminal, chosen.error(), kExitUsage);
  if (options.dry_run) return show_plan(context, options, read.request.name, *file);
  const auto connection = context.connect(Context::Need::nodes);
  if (!connection) return fail(context.terminal, connection.error(), otherwise);
  if (file->compute_where.empty() && !target->name.empty()) override_compute(read, *target);
  const auto refused = [&](const Error& error, int code) {
    return fail_with_all_of(context, **connection, read, error, code);
  };
  if (const Status known = expect_computes(**connection, *file, *target); !known)
    return refused(known.error(), exit_code_for(known.error(), otherwise));
  if (const Status good = EnvironmentResolver(**connection).resolve_all(*file); !good)
    return refused(good.error(), otherwise);
  if (file->environment && !options.quiet) show_ignored(context.terminal, file->spec);
  return submit_and_watch(context, **connection, submission_of(options, *std::move(file)),
                          {true, options.quiet, 0, options.format}, otherwise,
                          [&](const Error& error) { refused(error, otherwise); });
}

}  // namespace

void add_create_verb(CLI::App& group, VerbTable table) {
  const auto options = std::make_shared<CreateOptions>();
  CLI::App* const verb = table.add_below(group, "create", "submit a job file (Azure ML v2 YAML)");
  if (verb == nullptr) return;
  verb->footer(kCreateExamples);
  verb->add_option("-f,--file", options->file, "the job file; -: standard input")
      ->required()
      ->check(filled("name the job file"));
  verb->add_option("--set", options->overrides,
                   "KEY.KEY=VALUE, overrides the file; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_job_flags(*verb, options->flags);
  verb->add_option("-n,--name", options->new_name, "the job's name (overrides the file's)")
      ->check(filled("leave it out to take the file's"));
  verb->add_flag("--rebuild", options->rebuild, "solve and build the job's environment again");
  auto* stream = verb->add_flag("-s,--stream", options->stream,
                                "print the job's logs until the job ends; Ctrl-C cancels the job");
  verb->add_flag("-q,--quiet", options->quiet,
                 "with --stream: print only the ranks' output and failures")
      ->needs(stream);
  verb->add_flag("--dry-run", options->dry_run,
                 "print the steps in the order in which they run, and submit nothing")
      ->excludes(stream);
  add_format(*verb, options->format,
             "print the job's record (with --stream, at the end; with --dry-run, the plan)",
             &options->flags.outputs);
  verb->callback([table, options] {
    table.action = [options](Context& context) { return create(context, *options); };
  });
}

}  // namespace lockstep::cli
