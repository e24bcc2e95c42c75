// Changes a submitted job: its texts and tags, and the priority of a waiting one.

#include <CLI/CLI.hpp>
#include <algorithm>

#include "launcher/cli/base/step_choice.h"
#include "launcher/cli/job/job_changes.h"
#include "launcher/cli/verbs/submit/submit_verbs.h"

namespace lockstep::cli {

namespace {

constexpr const char* kUpdateExamples = R"(
  lockstep job update NAME --set tags.model=small --set description="the second try"
  lockstep job update NAME --remove tags.model
  lockstep job update NAME --priority high
Keys: display_name, description, experiment_name, tags.KEY; --remove tags removes all tags.)";

struct UpdateOptions {
  std::vector<std::string> names, set, remove;
  std::string priority;
};

int ask(Context& context, Connection& connection, const ClientRequest& request) {
  const auto reply = connection.ask_for<Done>(request);
  if (!reply) return fail(context.terminal, reply.error());
  context.terminal.print_line(reply->message);
  return 0;
}

// Updates each job separately: a failure for one does not stop the others.
int update(Context& context, const UpdateOptions& options) {
  auto changes = read_job_changes(options.set, options.remove);
  if (!changes) return fail(context.terminal, changes.error(), kExitUsage);
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const bool has_changes = *changes != AnnotateJob{};
  const auto priority = priority_from(options.priority);
  int worst = 0;
  for (const std::string& name : options.names) {
    const auto job = job_to_change(**connection, "job update", name);
    if (!job) {
      worst = std::max(worst, fail(context.terminal, job.error()));
      continue;
    }
    changes->job = *job;
    int code = has_changes ? ask(context, **connection, *changes) : 0;
    if (code == 0 && priority) code = ask(context, **connection, UpdateJob{*job, *priority});
    worst = std::max(worst, code);
  }
  return worst;
}

CLI::Option* add_words(CLI::App& verb, const char* flag, std::vector<std::string>& words,
                       const char* what) {
  return verb.add_option(flag, words, what)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace

CLI::Validator priority_word() {
  return CLI::Validator(
      [](std::string& word) {
        return priority_from(word) ? "" : "'" + word + "' is not low, medium or high";
      },
      "low|medium|high", "priority");
}

void add_update_verb(CLI::App& group, VerbTable table) {
  const auto options = std::make_shared<UpdateOptions>();
  CLI::App* const verb =
      table.add_below(group, "update", "change a job's texts and tags, or a queued job's priority");
  if (verb == nullptr) return;
  verb->footer(kUpdateExamples);
  auto* names = verb->add_option("-n,--name,NAME", options->names, "the jobs' names");
  names->check(job_name());
  auto* set = add_words(*verb, "--set", options->set, "KEY=VALUE; may be repeated");
  auto* remove = add_words(*verb, "--remove", options->remove, "KEY; may be repeated");
  auto* priority = verb->add_option("--priority", options->priority, "low, medium or high")
                       ->check(priority_word());
  verb->parse_complete_callback([names, set, remove, priority] {
    if (names->count() == 0) throw CLI::RequiredError("NAME");
    if (set->count() + remove->count() + priority->count() == 0)
      throw CLI::RequiredError("--set, --remove or --priority");
  });
  verb->callback([table, options] {
    table.action = [options](Context& context) { return update(context, *options); };
  });
}

}  // namespace lockstep::cli
