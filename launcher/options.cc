#include "launcher/options.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <charconv>

namespace lockstep::launcher {

namespace {

Error bad(std::string message) {
  return make_error(ErrorCode::invalid_argument, std::move(message));
}

Status read_duration(const char* flag, const std::string& text, Duration* out) {
  if (text.empty()) return {};
  const Duration value = parse_duration(text);
  if (value <= Duration::zero())
    return bad(fmt::format("{}: '{}' is not a time; write 10s, 500ms, 5m", flag, text));
  *out = value;
  return {};
}

struct Texts {
  std::string listen, heartbeat, lost, grace, stop, logs, lease;
  int fixed_nodes = 0;
};

Status complete(const Texts& texts, Options* options) {
  if (!texts.listen.empty()) {
    TRY_ASSIGN(options->listen, parse_listen(texts.listen));
  }
  TRY(read_duration("--heartbeat-interval", texts.heartbeat, &options->core.heartbeat_interval));
  TRY(read_duration("--node-lost-timeout", texts.lost, &options->core.node_lost_timeout));
  TRY(read_duration("--reconnect-grace", texts.grace, &options->core.reconnect_grace));
  TRY(read_duration("--stop-grace", texts.stop, &options->core.stop_grace));
  TRY(read_duration("--logs-timeout", texts.logs, &options->core.logs_timeout));
  TRY(read_duration("--fence-lease", texts.lease, &options->core.fence_lease));
  if (options->core.fence_lease < options->core.heartbeat_interval * 3)
    return bad(
        "--fence-lease: must be at least three heartbeat intervals; nodes could not renew it");
  if (options->home.empty()) return bad("--home: is empty");
  if (options->home[0] != '/')
    return bad("--home: '" + options->home + "' is not an absolute path");
  while (options->home.size() > 1 && options->home.back() == '/') options->home.pop_back();
  const bool has_port = options->advertise.find(':') != std::string::npos &&
                        options->advertise.find(']') == std::string::npos;
  if (has_port || options->advertise.find('/') != std::string::npos)
    return bad("--advertise: '" + options->advertise +
               "' is not a host; write a name, an address, or [an IPv6 address], without a port");
  if (texts.fixed_nodes > 0) {
    options->core.fixed_nodes = texts.fixed_nodes;
    options->allow_root = true;  // the command line started us for the person who runs it
  }
  return {};
}

}  // namespace

Result<Listen> parse_listen(const std::string& text) {
  const std::string prefix = "tcp://";
  const auto colon = text.rfind(':');
  if (text.rfind(prefix, 0) != 0 || colon == std::string::npos || colon < prefix.size() + 1)
    return bad(fmt::format("--listen: '{}' is not tcp://HOST:PORT", text));
  Listen listen;
  listen.host = text.substr(prefix.size(), colon - prefix.size());
  const std::string port = text.substr(colon + 1);
  if (port == "*") {
    listen.port = 0;
    return listen;
  }
  const auto read = std::from_chars(port.data(), port.data() + port.size(), listen.port);
  if (read.ec != std::errc() || read.ptr != port.data() + port.size() || port.empty() ||
      listen.port < 0 || listen.port > 65533)
    return bad(
        fmt::format("--listen: '{}' is not a port; it must be 0 to 65533, because the two "
                    "after it are used as well",
                    port));
  return listen;
}

std::variant<Options, Leave> parse_options(int argc, const char* const* argv) {
  Options options;
  options.command.assign(argv, argv + argc);
  Texts texts;
  CLI::App app(
      "lockstepd: the launcher of Lockstep. It keeps the queue, the nodes, blobs and logs.",
      "lockstepd");
  app.set_version_flag("--version", "lockstepd " LOCKSTEP_VERSION);
  app.add_option("--home", options.home, "directory of this launcher (absolute)")->required();
  app.add_option("--listen", texts.listen,
                 "tcp://HOST:PORT; PORT, PORT+1 and PORT+2 are used (default: loopback, any)");
  app.add_option(
      "--advertise", options.advertise,
      "host by which other machines reach this one, for tokens and endpoint.json (default: that "
      "of --listen; for 0.0.0.0 the address of the default route)");
  app.add_option("--fixed-nodes", texts.fixed_nodes, "the target has exactly N nodes")
      ->check(CLI::Range(1, 10'000));
  app.add_flag("--started-by-lockstep", options.by_lockstep)->group("");  // hidden
  app.add_flag("--allow-root", options.allow_root, "jobs may run as root");
  app.add_option("--log-level", options.log_level, "trace, debug, info, warn, error or off")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "off"}));
  app.add_option("--heartbeat-interval", texts.heartbeat, "default 1s");
  app.add_option("--node-lost-timeout", texts.lost, "default 10s");
  app.add_option("--reconnect-grace", texts.grace, "default 60s");
  app.add_option("--stop-grace", texts.stop, "between SIGTERM and SIGKILL, default 10s");
  app.add_option("--logs-timeout", texts.logs, "default 5m");
  app.add_option("--fence-lease", texts.lease,
                 "how long ranks of a job with on_lost: after_fence outlive the last word between "
                 "their node and us, default 15m");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return Leave{app.help(), ExitCode::ok};
  } catch (const CLI::CallForVersion&) {
    return Leave{app.version() + "\n", ExitCode::ok};
  } catch (const CLI::ParseError& error) {
    return Leave{fmt::format("lockstepd: {}\n(lockstepd --help lists all flags)\n", error.what()),
                 ExitCode::usage};
  }
  if (const auto done = complete(texts, &options); !done)
    return Leave{fmt::format("lockstepd: {}\n", done.error().message), ExitCode::usage};
  return options;
}

}  // namespace lockstep::launcher
