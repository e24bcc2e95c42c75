// Changing a job that waits in the queue.

#include <CLI/CLI.hpp>

#include "launcher/cli/verbs.h"

namespace lockstep::cli {

namespace {

struct UpdateOptions {
  std::vector<std::string> names;
  std::string priority;
};

// Each by itself: one that cannot be changed does not keep the others from it.
int update(Context& context, const UpdateOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const Priority priority = priority_from(options.priority).value_or(Priority::medium);
  int code = 0;
  for (const std::string& name : options.names) {
    const auto reply = (*connection)->ask_for<Done>(UpdateJob{JobId(name), priority});
    if (reply)
      context.terminal.print_line(reply->message);
    else
      code = fail(context.terminal, reply.error());
  }
  return code;
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
  CLI::App* const verb = table.add_below(group, "update", "change the priority of a queued job");
  if (verb == nullptr) return;
  auto* names = verb->add_option("-n,--name,NAME", options->names, "the jobs' names");
  names->check(filled("`lockstep job list` shows the names"));
  verb->add_option("--priority", options->priority, "low, medium or high")
      ->check(priority_word())
      ->required();
  verb->parse_complete_callback([names] {
    if (names->count() == 0) throw CLI::RequiredError("NAME");
  });
  verb->callback([table, options] {
    table.action = [options](Context& context) { return update(context, *options); };
  });
}

}  // namespace lockstep::cli
