// `lockstep compute log`: what the launcher's provider did with a target's machines.

#include <CLI/CLI.hpp>
#include <memory>

#include "common/domain/targets/compute.h"
#include "launcher/cli/terminal/output.h"
#include "launcher/cli/verbs/targets/target_verbs.h"

namespace lockstep::cli {

namespace {

struct ComputeLogOptions {
  std::string name;
  int tail = 0;  // 0: as many lines as the launcher sends
};

int print_compute_log(Context& context, const ComputeLogOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto reply =
      (*connection)->ask_for<ComputeLogReply>(ReadComputeLog{options.name, options.tail});
  if (!reply) return fail(context.terminal, reply.error());
  if (reply->text.empty())
    context.terminal.print_line("nothing has been logged for target '" + options.name +
                                "'; only targets whose machines the launcher attaches have a log");
  context.terminal.out(printable(reply->text));
  return 0;
}

}  // namespace

void add_compute_log_verb(CLI::App& group, VerbTable table) {
  const auto options = std::make_shared<ComputeLogOptions>();
  auto* verb = group.add_subcommand("log", "what the launcher did with a target's machines");
  auto* name = verb->add_option("-n,--name,NAME", options->name, "the target's name");
  name->check(filled("`lockstep compute list` shows the names"));
  verb->parse_complete_callback([name] {
    if (name->count() == 0) throw CLI::RequiredError("NAME");
  });
  verb->add_option("--tail", options->tail, "only the newest so many lines")
      ->check(whole_number(1));
  verb->callback([table, options] {
    table.action = [options](Context& context) { return print_compute_log(context, *options); };
  });
}

}  // namespace lockstep::cli
