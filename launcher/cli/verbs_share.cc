// Sharing a job with the members of its project.

#include <CLI/CLI.hpp>

#include "launcher/cli/verbs.h"

namespace lockstep::cli {

namespace {

// Each by itself: one that cannot be shared does not keep the others from it.
int set_shared(Context& context, const std::vector<std::string>& names, bool shared) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  int code = 0;
  for (const std::string& name : names) {
    const auto reply = (*connection)->ask_for<Done>(ShareJob{JobId(name), shared});
    if (reply)
      context.terminal.print_line(reply->message);
    else
      code = fail(context.terminal, reply.error());
  }
  return code;
}

void add_verb(CLI::App& group, VerbTable table, const char* name, const char* what, bool shared) {
  const auto names = std::make_shared<std::vector<std::string>>();
  CLI::App* const verb = table.add_below(group, name, what);
  if (verb == nullptr) return;
  auto* option = verb->add_option("-n,--name,NAME", *names, "the jobs' names");
  option->check(filled("`lockstep job list` shows the names"));
  verb->parse_complete_callback([option] {
    if (option->count() == 0) throw CLI::RequiredError("NAME");
  });
  verb->callback([table, names, shared] {
    table.action = [names, shared](Context& context) {
      return set_shared(context, *names, shared);
    };
  });
}

}  // namespace

void add_share_verbs(CLI::App& group, VerbTable table) {
  add_verb(group, table, "share", "let the members of a job's project read the job", true);
  add_verb(group, table, "unshare", "no longer let the members of a job's project read the job",
           false);
}

}  // namespace lockstep::cli
