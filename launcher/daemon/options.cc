#include "launcher/daemon/options.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>

#include "common/base/size_flag.h"
#include "common/domain/environment/docker_args.h"
#include "common/io/net/host_text.h"

namespace lockstep::launcher {

namespace {

constexpr const char* kExitCodes = R"(
Exit codes:
  0 ended by a signal or by an admin;  1 internal error;  2 wrong command line;
  3 another lockstepd uses this home;  4 journal or blobs are damaged, newer than this program or
  unreadable, or the home belongs to another user;  5 it cannot listen on the address of --listen;
  6 the journal could not be written;  7 a log could not be written (jobs go on; start it again))";

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

// Whether the text means no limit: "0" or "unlimited".
bool is_unlimited(const std::string& text) { return text == "0" || text == "unlimited"; }

Status read_size(const char* flag, const std::string& text, Bytes* out) {
  if (text.empty()) return {};
  *out = {};
  if (is_unlimited(text)) return {};
  TRY_ASSIGN(*out, parse_size_flag(flag, text, "500m, 100g, or unlimited"));
  return {};
}

// Reads a size that cannot be unlimited.
Status read_limit(const char* flag, const std::string& text, Bytes* out) {
  if (text.empty()) return {};
  TRY_ASSIGN(*out, parse_size_flag(flag, text, "64m or 5g"));
  return {};
}

// "--privileged,--device": names separated by commas.
Status read_docker_args(const std::string& text, std::vector<std::string>* out) {
  for (std::size_t from = 0; from <= text.size();) {
    const auto comma = std::min(text.find(',', from), text.size());
    std::string name = text.substr(from, comma - from);
    if (const Status good = check_allowable_docker_arg(name); !good)
      return good.error().within("--allow-docker-args");
    out->push_back(std::move(name));
    from = comma + 1;
  }
  return {};
}

struct Texts {
  std::optional<std::string> moving_to;
  std::string listen, heartbeat, lost, grace, stop, logs, lease, silent, remote_silence;
  std::string low_space, reserve, keep_audit;
  std::string keep_jobs_for, keep_logs, keep_outputs, blob_lease;
  std::vector<std::string> docker_args;
  int fixed_nodes = 0;
};

// Reads the options that `--help` lists between --heartbeat-interval and --silent-after, and
// --datastore-timeout.
Status read_times(const Texts& texts, Options* options) {
  TRY(read_duration("--heartbeat-interval", texts.heartbeat, &options->core.heartbeat_interval));
  TRY(read_duration("--node-lost-timeout", texts.lost, &options->core.node_lost_timeout));
  TRY(read_duration("--reconnect-grace", texts.grace, &options->core.reconnect_grace));
  TRY(read_duration("--stop-grace", texts.stop, &options->core.stop_grace));
  TRY(read_duration("--logs-timeout", texts.logs, &options->core.logs_timeout));
  TRY(read_duration("--datastore-timeout", texts.remote_silence, &options->remote_silence));
  if (texts.silent == "0")
    options->silent_after = Duration(0);
  else
    TRY(read_duration("--silent-after", texts.silent, &options->silent_after));
  return {};
}

Status read_fence_lease(const Texts& texts, Options* options) {
  TRY(read_duration("--fence-lease", texts.lease, &options->core.fence_lease));
  if (options->core.fence_lease < options->core.heartbeat_interval * 3)
    return bad(
        "--fence-lease: must be at least three heartbeat intervals; otherwise nodes could not "
        "renew the lease");
  return {};
}

Status read_retention(const Texts& texts, Options* options) {
  Retention& keeps = options->core.keeps;
  if (is_unlimited(texts.keep_jobs_for))
    keeps.jobs_for = Duration(0);
  else
    TRY(read_duration("--keep-jobs-for", texts.keep_jobs_for, &keeps.jobs_for));
  TRY(read_size("--keep-logs", texts.keep_logs, &keeps.logs));
  TRY(read_size("--keep-outputs", texts.keep_outputs, &keeps.outputs));
  TRY(read_limit("--keep-audit", texts.keep_audit, &options->keep_audit));
  if (options->keep_audit < kLeastAudit)
    return bad(fmt::format("--keep-audit {}: must be {} or more", texts.keep_audit,
                           to_string(kLeastAudit)));
  TRY(read_limit("--low-space", texts.low_space, &options->low_space));
  TRY(read_limit("--reserve", texts.reserve, &options->reserve));
  TRY(read_duration("--blob-lease", texts.blob_lease, &options->blob_lease));
  return {};
}

// Paths must be absolute: the launcher's working directory may be another than the user's.
Status check_paths(Options* options) {
  if (options->home.empty()) return bad("--home: is empty");
  if (options->home[0] != '/')
    return bad("--home: '" + options->home + "' is not an absolute path");
  while (options->home.size() > 1 && options->home.back() == '/') options->home.pop_back();
  if (!options->datastores.empty() && options->datastores[0] != '/')
    return bad("--datastores: '" + options->datastores + "' is not an absolute path");
  if (const std::string& folder = options->workspace_datastores;
      !folder.empty() && folder[0] != '/')
    return bad("--workspace-datastores: '" + folder + "' is not an absolute path");
  if (!options->node_bundle.empty() && options->node_bundle[0] != '/')
    return bad("--node-bundle: '" + options->node_bundle + "' is not an absolute path");
  return {};
}

Status check_advertised(const std::string& host) {
  const bool has_port = host.find(':') != std::string::npos && host.find(']') == std::string::npos;
  const bool is_host = host.empty() || io::is_host(host);
  if (has_port || !is_host)
    return bad("--advertise: '" + host +
               "' is not a host; write a name, an address, or [an IPv6 address], without a port");
  return {};
}

Status complete(const Texts& texts, Options* options) {
  if (!texts.listen.empty()) {
    TRY_ASSIGN(options->listen, parse_listen(texts.listen));
  }
  if (texts.moving_to) {
    TRY_ASSIGN(options->moving_to, parse_moving_to(*texts.moving_to));
  }
  TRY(read_times(texts, options));
  TRY(read_retention(texts, options));
  for (const std::string& text : texts.docker_args)
    TRY(read_docker_args(text, &options->core.allowed_docker_args));
  TRY(read_fence_lease(texts, options));
  TRY(check_paths(options));
  TRY(check_advertised(options->advertise));
  if (texts.fixed_nodes > 0) {
    options->core.fixed_nodes = texts.fixed_nodes;
    options->allow_root = true;  // `lockstep` started this process for the user who runs it
  }
  return {};
}

// Adds the options for this launcher's addresses, its own and those for others.
void add_addresses(CLI::App& app, Texts& texts, Options& options) {
  app.add_option("--home", options.home, "directory of this launcher (absolute)")->required();
  app.add_option(
      "--listen", texts.listen,
      "tcp://HOST:PORT; PORT, PORT+1 and PORT+2 are used (default: free ports on loopback)");
  app.add_option(
      "--advertise", options.advertise,
      "host name or address at which other machines reach this one, for tokens and endpoint.json "
      "(default: the host of --listen; for 0.0.0.0 the address of the default route)");
  app.add_option(
      "--moving-to", texts.moving_to,
      "tcp://HOST:PORT where this launcher will be: its nodes are told, and go there when it no "
      "longer answers where it is. If the launcher of --home runs, it tells them within a second, "
      "and this command ends");
}

// Adds the options for which nodes may join, and how much a user may send.
void add_admission(CLI::App& app, Texts& texts, Options& options) {
  app.add_option("--fixed-nodes", texts.fixed_nodes, "the target has exactly N nodes")
      ->check(CLI::Range(1, 10'000));
  app.add_flag("--started-by-lockstep", options.by_lockstep)->group("");  // hidden
  app.add_flag("--allow-root", options.allow_root, "jobs may run as root");
  app.add_flag("--shared-machines", options.core.shared_machines,
               "two agents of one machine may both offer all of it (default: the second is "
               "refused unless it is started with its part: lockstep-agent --share)")
      ->envname("LOCKSTEP_SHARED_MACHINES");
  app.add_flag("--approve-nodes", options.core.approve_nodes,
               "nodes that join get no work before an admin approves them (`lockstep node "
               "approve`)");
  app.add_option("--user-messages", options.user_messages_per_second,
                 "how many requests a second one user may send, and five times as many at "
                 "once (default 200)")
      ->check(CLI::Range(1, 1'000'000));
}

// Adds the options for resources of jobs, and for the installation of hosts.
void add_resources(CLI::App& app, Texts& texts, Options& options) {
  app.add_option("--allow-docker-args", texts.docker_args,
                 "more options of `docker run` that jobs may use, beside those that grant no "
                 "rights, as in --privileged,--device; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--datastores", options.datastores,
                 "the file that names datastores (absolute; default: datastores.yml in --home)");
  app.add_option("--workspace-datastores", options.workspace_datastores,
                 "the folder that has the datastores of each Azure workspace, workspaceblobstore "
                 "and workspaceartifactstore; all nodes must have it (absolute; default: none)");
  app.add_option("--datastore-timeout", texts.remote_silence,
                 "how long the server of a remote datastore may send nothing before a fetch fails "
                 "(default 2m)");
  app.add_option("--node-bundle", options.node_bundle,
                 "the archive that is installed on hosts which are attached over ssh (absolute; "
                 "`scripts/bundle` makes it; default: that in ../share/lockstep or .. of this "
                 "program)");
}

void add_times(CLI::App& app, Texts& texts) {
  app.add_option("--heartbeat-interval", texts.heartbeat, "default 1s");
  app.add_option("--node-lost-timeout", texts.lost, "default 10s");
  app.add_option("--reconnect-grace", texts.grace, "default 60s");
  app.add_option("--stop-grace", texts.stop, "between SIGTERM and SIGKILL, default 10s");
  app.add_option("--logs-timeout", texts.logs, "default 5m");
  app.add_option("--silent-after", texts.silent,
                 "a running job that has written nothing and used no cpu for so long is shown as "
                 "silent; it is never ended for that (default 10m; 0 = never shown)")
      ->envname("LOCKSTEP_SILENT_AFTER");
}

void add_retention(CLI::App& app, Texts& texts, Options& options) {
  app.add_option(
         "--keep-jobs-for", texts.keep_jobs_for,
         "how long ended jobs are kept, with their logs and outputs (default 365d; unlimited)")
      ->group("What is kept");
  app.add_option("--keep-jobs", options.core.keeps.jobs,
                 "how many ended jobs are kept; more are deleted of the user who has most, the "
                 "oldest first (default 100000; 0 = unlimited)")
      ->check(CLI::Range(0, 1'000'000'000))
      ->group("What is kept");
  app.add_option("--keep-logs", texts.keep_logs,
                 "size that the logs of all ended jobs may have; above it, the oldest jobs of the "
                 "user who has most are deleted (default 100g; unlimited)")
      ->group("What is kept");
  app.add_option("--keep-outputs", texts.keep_outputs,
                 "the same for the outputs of ended jobs (default unlimited)")
      ->group("What is kept");
  app.add_option(
         "--keep-audit", texts.keep_audit,
         "size that the audit log may have; above it, its oldest file is removed (default 1g)")
      ->group("What is kept");
  app.add_option("--low-space", texts.low_space,
                 "with less free space on the disk of --home, no new jobs, uploads or nodes are "
                 "accepted (default: 2 % of the disk, at least 1g; a tenth of a small disk)")
      ->group("What is kept");
  app.add_option("--reserve", texts.reserve,
                 "size of a reserve file that is deleted when that disk is full, so that the ends "
                 "of running jobs can still be written (default 64m; a twentieth of a small disk)")
      ->group("What is kept");
  app.add_option("--blob-lease", texts.blob_lease,
                 "how long files that no job refers to are kept after they were last sent or "
                 "requested (default 60m)")
      ->group("What is kept");
  app.add_option("--compact-after", options.compact_after,
                 "the journal is compacted when its size has doubled and it has grown by this "
                 "number of facts (default 10000)")
      ->check(CLI::Range(1, 1'000'000'000))
      ->group("What is kept");
}

// Parses the arguments. Without a value, the daemon runs with the parsed options.
std::optional<Leave> parse(CLI::App& app, int argc, const char* const* argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return Leave{app.help(), ExitCode::ok};
  } catch (const CLI::CallForVersion&) {
    return Leave{app.version() + "\n", ExitCode::ok};
  } catch (const CLI::RequiredError& error) {
    // Reports unknown options before missing ones: a missing one may only have been misspelt.
    const auto unknown = app.remaining();
    const std::string why = unknown.empty() ? error.what() : CLI::ExtrasError(unknown).what();
    return Leave{fmt::format("lockstepd: {}\n(lockstepd --help lists all flags)\n", why),
                 ExitCode::usage};
  } catch (const CLI::ParseError& error) {
    return Leave{fmt::format("lockstepd: {}\n(lockstepd --help lists all flags)\n", error.what()),
                 ExitCode::usage};
  }
  return std::nullopt;
}

}  // namespace

Result<Listen> parse_moving_to(const std::string& text) {
  const auto listen = parse_listen(text);
  if (!listen || listen->port == 0 || listen->host == "0.0.0.0" || listen->host == "[::]" ||
      listen->host == "*")
    return bad(
        fmt::format("--moving-to: '{}' is not tcp://HOST:PORT where nodes will reach the "
                    "launcher, HOST a name, an IPv4 or an [IPv6] address, PORT 1 to 65533",
                    text));
  return *listen;
}

Result<Listen> parse_listen(const std::string& text) {
  const std::string prefix = "tcp://";
  const auto colon = text.rfind(':');
  if (text.rfind(prefix, 0) != 0 || colon == std::string::npos || colon < prefix.size() + 1)
    return bad(fmt::format("--listen: '{}' is not tcp://HOST:PORT", text));
  Listen listen;
  listen.host = text.substr(prefix.size(), colon - prefix.size());
  if (!io::is_host(listen.host) && listen.host != "*")
    return bad(
        fmt::format("--listen: '{}' is not a host; write a name, an IPv4 address, [an IPv6 "
                    "address], or * for all addresses of this machine",
                    listen.host));
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
  app.footer(std::string("Other commands: lockstepd fsck, lockstepd backup DEST, lockstepd restore "
                         "SRC --home DIR; each has --help.\n") +
             kExitCodes);
  app.set_version_flag("--version", "lockstepd " LOCKSTEP_VERSION);
  // `--help` lists the options in this order.
  add_addresses(app, texts, options);
  add_admission(app, texts, options);
  add_resources(app, texts, options);
  app.add_option("--log-level", options.log_level, "trace, debug, info, warn, error or off")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "off"}));
  add_times(app, texts);
  add_retention(app, texts, options);
  app.add_option("--fence-lease", texts.lease,
                 "how long ranks of a job with on_lost: after_fence run on after the last contact "
                 "between their node and the launcher, default 15m");
  if (auto leave = parse(app, argc, argv)) return *std::move(leave);
  if (const auto done = complete(texts, &options); !done)
    return Leave{fmt::format("lockstepd: {}\n", done.error().message), ExitCode::usage};
  return options;
}

}  // namespace lockstep::launcher
