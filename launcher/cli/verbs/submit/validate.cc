// Checks whether a job file could be submitted. Nothing is submitted, captured or uploaded.

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "launcher/api/json/job.h"
#include "launcher/cli/base/client_settings.h"
#include "launcher/cli/job/file_request.h"
#include "launcher/cli/job/flags.h"
#include "launcher/cli/submit/component_store.h"
#include "launcher/cli/verbs/submit/submit_verbs.h"
#include "launcher/files/job_file.h"

namespace lockstep::cli {

namespace {

constexpr const char* kExamples = R"(
  lockstep job validate -f job.yml
  lockstep job validate -f job.yml --set resources.instance_count=4
  lockstep job validate -f job.yml --local          without a launcher
Exit code 0: it is valid. 2: it is not; each error names its place.)";

struct ValidateOptions {
  std::string file;
  std::vector<std::string> overrides;
  JobFlags flags;
  bool local = false;
  Format format = Format::table;
};

int print_checked(Context& context, const ValidateOptions& options, const std::string& name,
                  const JobFileChecked& checked) {
  for (const std::string& note : checked.notes)
    context.terminal.print_line("note: " + in_one_line(note));
  for (const std::string& error : checked.errors) context.terminal.print_line(error);
  const bool valid = checked.errors.empty();
  if (options.format == Format::table && !valid) return kExitUsage;
  const int shown = print(context, options.format, api::to_json(api::CheckedFile{name, checked}),
                          printable(name) + ": valid\n");
  return valid ? shown : kExitUsage;
}

int validate(Context& context, const ValidateOptions& options) {
  const spec::FindComponent find =
      options.local ? spec::FindComponent() : component_finder(context);
  ReadJobFile read = read_job_file(options.file, options.overrides, options.flags, find);
  const Status of_flags =
      read.parsed ? apply_to_file(options.flags, *read.parsed) : check_flags(options.flags);
  if (read.parsed && read.parsed->spec.compute.empty() && !options.local) {
    const auto chosen = default_compute(context.home);
    if (!chosen) return fail(context.terminal, chosen.error(), kExitUsage);
    if (!chosen->name.empty()) override_compute(read, *chosen);
  }
  const std::string name = read.request.name;
  JobFileChecked here;
  const auto add = [&](const Error& error) {
    for (Error& fault : spec::faults_of(error)) here.errors.push_back(std::move(fault.message));
  };
  if (!read.parsed) add(read.parsed.error());
  if (!of_flags) add(of_flags.error());
  if (read.parsed) here.notes = read.parsed->notes;
  if (!here.errors.empty() && !options.local)
    for (std::string& error : faults_at_launcher(context, read))
      here.errors.push_back(std::move(error));
  if (!here.errors.empty() || options.local) return print_checked(context, options, name, here);
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto checked = ask_to_check(**connection, read);
  if (!checked) return fail(context.terminal, checked.error());
  return print_checked(context, options, name, *checked);
}

}  // namespace

void add_validate_verb(CLI::App& group, VerbTable table) {
  const auto options = std::make_shared<ValidateOptions>();
  CLI::App* const verb =
      table.add_below(group, "validate", "check whether a job file could be submitted");
  if (verb == nullptr) return;
  verb->footer(kExamples);
  verb->add_option("-f,--file", options->file, "the job file; -: standard input")
      ->required()
      ->check(filled("name the job file"));
  verb->add_option("--set", options->overrides,
                   "KEY.KEY=VALUE, overrides the file; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_job_flags(*verb, options->flags);
  verb->add_flag("--local", options->local,
                 "check without a launcher; does not check quotas, nodes, or the names of "
                 "environments, projects, secrets and compute targets");
  add_format(*verb, options->format, "table (default), json, yaml or tsv", &options->flags.outputs);
  verb->callback([table, options] {
    table.action = [options](Context& context) { return validate(context, *options); };
  });
}

}  // namespace lockstep::cli
