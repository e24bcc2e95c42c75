#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "common/grammar/job_name.h"
#include "launcher/api/json/job.h"
#include "launcher/cli/base/step_choice.h"
#include "launcher/cli/verbs/submit/submit_verbs.h"

namespace lockstep::cli {

namespace {

constexpr const char* kExamples = R"(
  lockstep job delete gray_pig_knyllgjbkl
  lockstep job delete --all-final --older-than 30d
  lockstep job delete --all-users --older-than 90d     for admins
Deletes the job's record, logs and outputs; the job's name can be used again. A job that has not
ended is kept: end it with `lockstep job cancel`.)";

struct DeleteOptions {
  std::vector<std::string> names;
  bool all_final = false;
  bool all_users = false;
  bool yes = false;
  std::string older_than;
  Format format = Format::table;
};

// Deletes slice by slice, until nothing is left.
Result<JobsDeleted> delete_all(Connection& connection, DeleteJobs request) {
  JobsDeleted all;
  std::vector<JobId> names = std::move(request.jobs);
  for (;;) {
    const auto count =
        static_cast<std::ptrdiff_t>(std::min(names.size(), std::size_t{kMaxDeletionsAtOnce}));
    request.jobs.assign(names.begin(), names.begin() + count);
    names.erase(names.begin(), names.begin() + count);
    TRY_ASSIGN(JobsDeleted part, connection.ask_for<JobsDeleted>(request));
    all.jobs.insert(all.jobs.end(), part.jobs.begin(), part.jobs.end());
    all.kept.insert(all.kept.end(), part.kept.begin(), part.kept.end());
    if (names.empty() && (part.more == 0 || part.jobs.empty())) return all;
  }
}

std::string counted(std::size_t count, std::string_view what = "job") {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// The jobs that are deleted with a named job: the jobs of its steps, and the jobs that it
// submitted.
struct Below {
  std::size_t steps = 0, children = 0;
};

// The jobs below each job. A job that cannot be shown is left out: deleting it reports the reason.
std::map<JobId, Below> below_of(Connection& connection, const std::vector<JobId>& names) {
  constexpr std::size_t kMostAsked = 100;
  std::map<JobId, Below> all;
  for (std::size_t i = 0; i < std::min(names.size(), kMostAsked); ++i) {
    const auto reply = connection.ask_for<JobReply>(ShowJob{names[i]});
    if (!reply) continue;
    Below& below = all[names[i]];
    below.children = static_cast<std::size_t>(std::max(reply->job.children, 0));
    for (const StepView& step : reply->job.steps) below.steps += step.status.has_value();
  }
  return all;
}

// ", with the jobs of 3 steps and 2 children"; "" for none.
std::string below_text(const std::map<JobId, Below>& below, const JobsDeleted& result) {
  Below sum;
  for (const JobId& job : result.jobs)
    if (const auto found = below.find(job); found != below.end()) {
      sum.steps += found->second.steps;
      sum.children += found->second.children;
    }
  std::string text;
  if (sum.steps > 0) text = "the jobs of " + counted(sum.steps, "step");
  if (sum.children > 0)
    text += fmt::format("{}{} child{} and all below {}", text.empty() ? "" : " and ", sum.children,
                        sum.children == 1 ? "" : "ren", sum.children == 1 ? "it" : "them");
  return text.empty() ? "" : ", with " + text;
}

// Whether all names are reported as missing, so there is nothing to sum up.
bool names_nothing(const JobsDeleted& result) {
  return result.jobs.empty() && !result.kept.empty() &&
         std::all_of(result.kept.begin(), result.kept.end(), [](const JobsDeleted::Kept& kept) {
           return kept.code == ErrorCode::not_found;
         });
}

// A text such as "no job of yours ended 5m ago or earlier".
std::string none_of(const DeleteOptions& options) {
  std::string text = options.all_users ? "no job has ended" : "no job of yours has ended";
  if (!options.older_than.empty())
    text = fmt::format("{} ended {} ago or earlier",
                       options.all_users ? "no job" : "no job of yours", options.older_than);
  return text + ": nothing was deleted" +
         (options.all_users ? "" : "; an admin deletes those of others too with --all-users");
}

// "2 jobs deleted, 1 kept"; if no job had ended, a text that says so.
std::string summary(const DeleteOptions& options, const JobsDeleted& result,
                    const std::string& below) {
  if (result.jobs.empty() && result.kept.empty()) return none_of(options);
  if (names_nothing(result)) return "";
  const std::string kept = result.kept.empty() ? "" : fmt::format(", {} kept", result.kept.size());
  return counted(result.jobs.size()) + " deleted" + below + kept;
}

// Tells which jobs are kept. If many cannot be deleted, only the first are explained.
void say_kept(Context& context, const JobsDeleted& result) {
  constexpr std::size_t kMaxSaid = 10;
  for (std::size_t i = 0; i < std::min(result.kept.size(), kMaxSaid); ++i)
    context.terminal.print_line(result.kept[i].message);
  if (result.kept.size() > kMaxSaid)
    context.terminal.print_line(
        fmt::format("and {} more are kept; -o json lists them all", result.kept.size() - kMaxSaid));
}

// Asks for confirmation, but only a person at a terminal; a script's options are enough.
bool is_confirmed(Context& context, const DeleteOptions& options) {
  if (options.yes || ::isatty(STDIN_FILENO) == 0 || !context.terminal.has_status_line())
    return true;
  const std::string whose = options.all_users ? "the jobs of all users" : "your jobs";
  context.terminal.err(
      options.older_than.empty()
          ? fmt::format("Delete all of {} that have ended, with their logs and outputs? [y/N] ",
                        whose)
          : fmt::format("Delete {} that ended {} ago or earlier, with their logs and outputs? "
                        "[y/N] ",
                        whose, options.older_than));
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

Error wrong_deletion(std::string what) {
  return make_error(ErrorCode::invalid_argument, "job delete: " + std::move(what));
}

// Makes the request, without the names of the jobs.
Result<DeleteJobs> deletion_from(const DeleteOptions& options) {
  DeleteJobs request;
  for (const std::string& name : options.names)
    if (const Status valid = validate_job_name(name.substr(0, name.find('/'))); !valid)
      return valid.error().within("job delete");
  request.all_users = options.all_users;
  request.all_final = options.all_final || options.all_users || !options.older_than.empty();
  if (!options.older_than.empty()) {
    request.older_than = parse_duration(options.older_than);
    if (request.older_than < Duration::zero())
      return wrong_deletion(
          fmt::format("--older-than '{}' is not a time; write 12h, 30d", options.older_than));
  }
  if (options.names.empty() && !request.all_final)
    return wrong_deletion("name the jobs, or give --all-final, --older-than or --all-users");
  return request;
}

// Sets request.jobs. Missing names do not stop the others.
std::vector<JobsDeleted::Kept> take_names(Connection& connection,
                                          const std::vector<std::string>& names,
                                          DeleteJobs& request) {
  std::vector<JobsDeleted::Kept> unknown;
  for (const std::string& name : names) {
    auto job = job_to_change(connection, "job delete", name);
    if (job)
      request.jobs.push_back(*std::move(job));
    else
      unknown.push_back({JobId(name), job.error().code, job.error().message});
  }
  return unknown;
}

int delete_jobs(Context& context, const DeleteOptions& options) {
  auto request = deletion_from(options);
  if (!request) return fail(context.terminal, request.error(), kExitUsage);
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  if (request->all_final && !is_confirmed(context, options)) {
    context.terminal.print_line("nothing was deleted");
    return kExitFailure;
  }
  auto unknown = take_names(**connection, options.names, *request);
  const bool asks = request->all_final || !request->jobs.empty();
  const auto below = below_of(**connection, request->jobs);
  auto result =
      asks ? delete_all(**connection, *std::move(request)) : Result<JobsDeleted>(JobsDeleted{});
  if (!result) return fail(context.terminal, result.error());
  std::move(unknown.begin(), unknown.end(), std::back_inserter(result->kept));
  std::string text;
  for (const JobId& job : result->jobs) text += job.value + "\n";
  const int shown = print(context, options.format, api::to_json(*result), text);
  say_kept(context, *result);
  const std::string said = summary(options, *result, below_text(below, *result));
  if (options.format == Format::table && !said.empty()) context.terminal.print_line(said);
  return result->kept.empty() ? shown : kExitFailure;
}

}  // namespace

void add_delete_verb(CLI::App& group, VerbTable table) {
  const auto options = std::make_shared<DeleteOptions>();
  CLI::App* const verb =
      table.add_below(group, "delete", "delete jobs that have ended, with their logs and outputs");
  if (verb == nullptr) return;
  verb->footer(kExamples);
  auto* names = verb->add_option("-n,--name,NAME", options->names, "the jobs' names");
  names->check(job_name());
  verb->add_flag("--all-final", options->all_final, "all of your jobs that have ended")
      ->excludes(names);
  verb->add_flag("--all-users", options->all_users,
                 "with --older-than or alone: the jobs of all users that have ended; for admins")
      ->excludes(names);
  verb->add_flag("-y,--yes", options->yes, "do not ask for confirmation");
  verb->add_option("--older-than", options->older_than,
                   "all of your jobs that ended at least this long ago: 12h, 30d")
      ->excludes(names);
  add_format(*verb, options->format, "names (default), json, yaml or tsv");
  verb->callback([table, options] {
    table.action = [options](Context& context) { return delete_jobs(context, *options); };
  });
}

}  // namespace lockstep::cli
