#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "common/io/clock.h"
#include "launcher/api/json/cluster.h"
#include "launcher/cli/local_launcher.h"
#include "launcher/cli/past_launcher.h"
#include "launcher/cli/verbs.h"
#include "launcher/cli/view_text.h"

namespace lockstep::cli {

namespace {

Error not_ours(const Context& context, std::string_view verb) {
  return make_error(ErrorCode::conflict,
                    fmt::format("{}: LOCKSTEP_LAUNCHER names another launcher ({}); to use a local "
                                "launcher, unset LOCKSTEP_LAUNCHER",
                                verb, context.launcher));
}

int show_status(Context& context, Connection& connection, Format format) {
  const auto reply = connection.ask_for<StatusReply>(GetStatus{});
  if (!reply) return fail(context.terminal, reply.error());
  io::SystemClock clock;
  return print(context, format, api::to_json(reply->status),
               status_text(reply->status, clock.now()));
}

int up(Context& context, int nodes, Format format) {
  if (!context.launcher.empty()) return fail(context.terminal, not_ours(context, "up"));
  const Status done = LocalLauncher(context.home, context.terminal).up(nodes);
  if (!done) return fail(context.terminal, done.error());
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  return show_status(context, **connection, format);
}

int down(Context& context, bool cancel) {
  if (!context.launcher.empty()) return fail(context.terminal, not_ours(context, "down"));
  const Status done = LocalLauncher(context.home, context.terminal).down(cancel);
  if (!done) return fail(context.terminal, done.error());
  return 0;
}

// Starts nothing: whether something runs is the question.
int status(Context& context, Format format) {
  if (!context.launcher.empty()) {
    const auto named = read_endpoint(context.launcher);
    if (!named) return fail(context.terminal, named.error().within("LOCKSTEP_LAUNCHER"));
  } else if (!context.find_endpoint()) {
    const auto endpoint = read_endpoint(context.home.endpoint());
    if (!endpoint && endpoint.error().code == ErrorCode::permission_denied)
      return fail(
          context.terminal,
          make_error(ErrorCode::permission_denied,
                     endpoint.error().message +
                         "; only the account that owns this home can see whether a launcher "
                         "runs there; set LOCKSTEP_HOME to use another home"));
    const std::string text = "launcher:     not running (" + context.home.path() + ")\n";
    if (const Status may = may_start_launcher(context.home); !may)
      context.terminal.print_line(may.error().message);
    print(context, format, Json{{"running", false}, {"home", context.home.path()}}, text);
    return kExitFailure;
  }
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  return show_status(context, **connection, format);
}

struct UpOptions {
  int nodes = 0;
  bool cancel = false;
  Format format = Format::table;
};

}  // namespace

void add_up_verbs(VerbTable table) {
  const auto options = std::make_shared<UpOptions>();
  if (CLI::App* const verb = table.add("up", "start a launcher and local nodes, or add nodes")) {
    verb->add_option("--nodes", options->nodes,
                     "number of local nodes that share this machine (default 1)")
        ->check(whole_number(1, kMaxLocalNodes));
    add_format(*verb, options->format);
    verb->callback([table, options] {
      table.action = [options](Context& context) {
        return up(context, options->nodes, options->format);
      };
    });
  }
  if (CLI::App* const verb = table.add("down", "end the launcher and the local nodes")) {
    verb->add_flag("--cancel", options->cancel, "cancel the jobs that still run first");
    verb->callback([table, options] {
      table.action = [options](Context& context) { return down(context, options->cancel); };
    });
  }
  if (CLI::App* const verb = table.add(
          "status", "show the launcher, nodes and jobs; exit code 1 when no launcher runs")) {
    add_format(*verb, options->format);
    verb->callback([table, options] {
      table.action = [options](Context& context) { return status(context, options->format); };
    });
  }
}

}  // namespace lockstep::cli
