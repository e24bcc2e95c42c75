#include "launcher/cli/base/verb_context.h"

#include <pthread.h>
#include <signal.h>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/io/clock.h"
#include "launcher/cli/local/launcher.h"
#include "launcher/cli/terminal/output.h"
#include "launcher/cli/terminal/paced_lines.h"
#include "launcher/files/yaml/faults.h"

namespace lockstep::cli {

void hold_interrupts(bool hold) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGHUP);
  ::pthread_sigmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &set, nullptr);
}

namespace {

// The error if systemd or a person started the launcher: the file is then in a launcher's home on
// this machine.
std::string operators_launcher_is_down(const std::string& endpoint_file) {
  if (endpoint_file.empty()) return "";
  return fmt::format(
      "LOCKSTEP_LAUNCHER names {}: if that launcher has ended, start it again on its machine "
      "(`systemctl start lockstepd`, or lockstepd --home DIR), and if it moved, take its new "
      "endpoint.json",
      endpoint_file);
}

std::string text_in(Format format, const Json& json) {
  switch (format) {
    case Format::table:
    case Format::json: break;
    case Format::yaml: return yaml_text(json);
    case Format::tsv: return tsv_text(json);
    case Format::records: return records_text(json);
  }
  return json_text(json);
}

}  // namespace

Result<Connection*> Context::connect(Need need) const {
  Endpoint endpoint;
  if (launcher.empty()) {
    LocalLauncher local(home, terminal);
    TRY_ASSIGN(endpoint, local.ensure(0, need == Need::nodes));
  } else {
    TRY_ASSIGN(endpoint, read_endpoint(launcher));
  }
  TRY_ASSIGN(const io::KeyPair keys, user_keys(home));
  // The owner of the launcher's home is its operator, even if `lockstepd` was started by hand.
  if (launcher.empty()) TRY(authorize(home, keys.public_key));
  // ZeroMQ's threads inherit the signal mask: interrupts must reach only this thread.
  hold_interrupts(true);
  auto connection = Connection::open(endpoint, keys, operators_launcher_is_down(launcher),
                                     io::read_file(home.key_of_attempt()).value_or(""));
  hold_interrupts(false);
  // The job will upload its code, so the second connection is made while the first request is
  // answered.
  if (!connection) return connection.error();
  (*connection)->on_slow_disk([&to = terminal, said = Duration::max()](Duration slow_for) mutable {
    if (slow_for < said)  // a shorter time: it is another write
      to.print_line(fmt::format("the launcher's disk is slow: a write has taken {}; waiting for it",
                                format_duration(slow_for)));
    said = slow_for;
  });
  const auto now = [] { return io::SystemClock().now(); };
  (*connection)
      ->on_data_wait(
          [&to = terminal, now, lines = PacedLines(now())](const std::string& what) mutable {
            if (to.has_status_line()) return to.progress(printable(what));
            if (lines.take(now())) to.print_line(printable(what));
          });
  if (need == Need::nodes) TRY((*connection)->bulk());
  return connections.emplace_back(std::move(*connection)).get();
}

std::optional<Endpoint> Context::find_endpoint() const {
  if (launcher.empty()) return live_endpoint(home.endpoint());
  auto endpoint = read_endpoint(launcher);
  if (!endpoint) return std::nullopt;
  return *endpoint;
}

int fail(Terminal& terminal, const Error& error, int code) {
  terminal.print_line(error.message);
  return code;
}

int fail_with_all(Terminal& terminal, const Error& error, int code) {
  for (const Error& fault : spec::faults_of(error)) terminal.print_line(fault.message);
  return code;
}

int ask_to_change(Context& context, const ClientRequest& request) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto reply = (*connection)->ask_for<Done>(request);
  if (!reply) return fail(context.terminal, reply.error());
  context.terminal.print_line(reply->message);
  return 0;
}

Result<Json> what_is_asked(const Context& context, const Json& json) {
  if (!context.query) return json;
  auto selected = context.query->search(json);
  if (!selected) return selected.error().within("--query");
  return selected;
}

int print(Context& context, Format format, const Json& json, const std::string& table) {
  if (format == Format::table) {
    context.terminal.out(table);
    return 0;
  }
  const auto selected = what_is_asked(context, json);
  if (!selected) return fail(context.terminal, selected.error());
  context.terminal.out(text_in(format, *selected));
  return 0;
}

}  // namespace lockstep::cli
