// Whether a job file could be submitted. Nothing is submitted, captured or uploaded.

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "common/io/file_system.h"
#include "launcher/api/json/job.h"
#include "launcher/cli/client_settings.h"
#include "launcher/cli/component_store.h"
#include "launcher/cli/verbs.h"
#include "launcher/spec/job_file.h"

namespace lockstep::cli {

namespace {

constexpr Duration kTimeout = seconds(60);  // a large file is parsed there as well
constexpr const char* kExamples = R"(
  lockstep job validate -f job.yml
  lockstep job validate -f job.yml --set resources.instance_count=4
  lockstep job validate -f job.yml --local          without a launcher
Exit code 0: it is valid. 2: it is not; each error names its place.)";

struct ValidateOptions {
  std::string file;
  std::vector<std::string> overrides;
  bool local = false;
  Format format = Format::table;
};

// The file and those that it names, as they were read here.
struct Read {
  CheckJobFile request;
  Result<spec::JobFile> parsed;
};

Read read_here(Context& context, const ValidateOptions& options) {
  CheckJobFile request{options.file, "", options.overrides};
  const spec::ReadText noting = [&](const std::string& path) {
    auto text = spec::read_regular_text_file(path);
    if (text) request.files[path] = *text;
    return text;
  };
  const spec::FindComponent fetching = component_finder(context);
  spec::FindComponent find;
  if (!options.local)
    find = [&](const AssetReference& reference) {
      auto found = fetching(reference);
      if (found) request.components[to_string(reference)] = found->file;
      return found;
    };
  auto parsed = spec::load_job(options.file, options.overrides, noting, find);
  if (!parsed) return {std::move(request), std::move(parsed)};
  auto text = io::read_file(options.file, Bytes{spec::kMaxFileBytes});
  if (!text) return {std::move(request), std::move(text).error()};
  request.text = *std::move(text);
  return {std::move(request), std::move(parsed)};
}

int print_checked(Context& context, const ValidateOptions& options, const JobFileChecked& checked) {
  for (const std::string& note : checked.notes)
    context.terminal.print_line("note: " + in_one_line(note));
  for (const std::string& error : checked.errors) context.terminal.print_line(error);
  const bool valid = checked.errors.empty();
  if (options.format == Format::table && !valid) return kExitUsage;
  const int shown = print(context, options.format, api::to_json(options.file, checked),
                          printable(options.file) + ": valid\n");
  return valid ? shown : kExitUsage;
}

int validate(Context& context, const ValidateOptions& options) {
  Read read = read_here(context, options);
  if (read.parsed && read.parsed->spec.compute.empty() && !options.local) {
    const auto chosen = default_compute(context.home);
    if (!chosen) return fail(context.terminal, chosen.error(), kExitUsage);
    if (!chosen->name.empty()) read.request.overrides.push_back("compute=" + chosen->name);
  }
  JobFileChecked here;
  if (!read.parsed)
    for (Error& fault : spec::faults_of(read.parsed.error()))
      here.errors.push_back(std::move(fault.message));
  if (read.parsed) here.notes = read.parsed->notes;
  if (!read.parsed || options.local) return print_checked(context, options, here);
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto checked = (*connection)->ask_for<JobFileChecked>(std::move(read.request), kTimeout);
  if (!checked) return fail(context.terminal, checked.error());
  return print_checked(context, options, *checked);
}

}  // namespace

void add_validate_verb(CLI::App& group, VerbTable table) {
  const auto options = std::make_shared<ValidateOptions>();
  CLI::App* const verb =
      table.add_below(group, "validate", "check whether a job file could be submitted");
  if (verb == nullptr) return;
  verb->footer(kExamples);
  verb->add_option("-f,--file", options->file, "the job file")
      ->required()
      ->check(filled("name the job file"));
  verb->add_option("--set", options->overrides,
                   "KEY.KEY=VALUE, overrides the file; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb->add_flag("--local", options->local,
                 "check without a launcher; does not check quotas, nodes, or the names of "
                 "environments, projects, secrets and compute targets");
  add_format(*verb, options->format);
  verb->callback([table, options] {
    table.action = [options](Context& context) { return validate(context, *options); };
  });
}

}  // namespace lockstep::cli
