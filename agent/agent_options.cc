#include "agent/agent_options.h"

#include <unistd.h>

#include <CLI/CLI.hpp>

#include "agent/daemon/offer.h"
#include "agent/inventory/inventory.h"
#include "agent/workspace/cache_limit.h"
#include "common/base/size_flag.h"
#include "common/domain/messages/agent_protocol.h"
#include "common/domain/targets/metrics.h"
#include "common/io/file_system.h"
#include "common/io/process.h"

namespace lockstep::agent {

namespace {

constexpr Bytes kLeastLogSpool = mebibytes(1);

// The launcher that this node joins, and the node's name there.
void add_membership(CLI::App& app, Options& options) {
  app.add_option("--launcher", options.launcher,
                 "tcp://HOST:PORT where this node reaches the launcher; remembered; needed only if "
                 "the token's address is not reachable from this node");
  app.add_option("--token-file", options.token_file,
                 "file with the join token, or - for standard input; needed once");
  app.add_option("--home", options.home, "where attempts, caches and the identity are kept");
  app.add_option("--name", options.name, "the node's name (default: the host name)");
}

// The part of the machine that this node offers, and its address.
void add_offer(CLI::App& app, Options& options) {
  app.add_option("--advertise", options.offer.advertise,
                 "address for other nodes (default: of the route to the launcher)");
  app.add_option("--share", options.offer.share,
                 "offer only this part of the machine, as in 1/2 for the first of two equal parts; "
                 "for a machine with several agents");
  app.add_option(
      "--cpus", options.offer.cpus,
      "offer only these: a count (4) or a list (0-3,8); this flag, --share, --memory, "
      "--gpus, --network and --advertise are remembered in --home; the value `all` resets a flag");
  app.add_option("--memory", options.offer.memory, "offer only so much (16g), or all");
  app.add_option("--gpus", options.offer.gpus,
                 "offer only these: none, a count, a list, or a share I/N; or all");
}

// How much disk space the agent's caches and spools may take.
void add_space(CLI::App& app, Options& options) {
  app.add_option(
         "--log-spool", options.log_spool,
         "how much output of one attempt this node stores until the launcher has taken it; when it "
         "is full, the ranks wait (default: 1g)")
      ->envname("LOCKSTEP_LOG_SPOOL");
  app.add_option("--cache-size", options.cache_size,
                 "how large the cache of sources may become (50g; unlimited; default: a quarter of "
                 "the file system of --home)");
  app.add_option("--environments-size", options.environments_size,
                 "how much disk the environments built for jobs may take (50g; unlimited; default: "
                 "20g); those in use are never removed");
  app.add_option("--packages", options.packages,
                 "folder for the packages fetched for environments; agents of the same machine and "
                 "user may share it (default: in --home)");
  app.add_option("--low-space", options.low_space,
                 "this node takes no new work while the disk of --home has less free space than "
                 "this (default: 2 % of the disk, at least 1g; a tenth of a small disk)");
}

// The most that jobs may request.
void add_caps(CLI::App& app, Options& options) {
  app.add_option(
         "--max-pids-limit", options.max_pids_limit,
         "the most processes and threads that a job may request for each rank (default: 65536)")
      ->check(CLI::Range(kLeastPidsLimit, kMostPidsLimit));
  app.add_option("--max-log-limit", options.max_log_limit,
                 "the most output of a job that this node keeps (default: what the job requests)");
  app.add_option("--max-disk-limit", options.max_disk_limit,
                 "the most that a job's folders on this node may hold, also for a job that "
                 "requests no limit (default: none)");
}

void add_doctor(CLI::App& app, Options& options) {
  auto* doctor =
      app.add_subcommand("doctor", "check what this machine can do as a node; starts no agent");
  doctor->add_option("--home", options.home, "of the agent");
  doctor->add_option("-o,--output", options.format, "table (default) or json")
      ->check(CLI::IsMember({"table", "json"}));
}

}  // namespace

std::string default_home() {
  if (::geteuid() == 0) return "/var/lib/lockstep/agent";
  const auto user = io::current_user();
  return (user ? user->home : std::string()) + "/.lockstep/agent";
}

void add_options(CLI::App& app, Options& options) {
  // `--help` lists the options in this order.
  add_membership(app, options);
  add_offer(app, options);
  add_space(app, options);
  add_caps(app, options);
  app.add_option("--sample-every", options.sample_every,
                 "how often this node reports what it and its ranks use, for `lockstep top`: 1s to "
                 "10m, 0 = never (default: 5s)")
      ->envname("LOCKSTEP_SAMPLE_EVERY");
  app.add_option(
      "--taken-on-sigterm", options.taken_on_sigterm,
      "SIGTERM means that this machine is taken away after this time (30s): the launcher "
      "stops what runs here with grace (default: SIGTERM ends the agent, and jobs go on)");
  app.add_option("--network", options.offer.network,
                 "label of the node's network: one job uses only nodes with the same label; all: "
                 "the label of the node's compute target");
  app.add_option("--log-level", options.log_level, "debug, info, warn or error")
      ->check(CLI::IsMember({"debug", "info", "warn", "error"}));
  app.set_version_flag("--version", std::string("lockstep-agent ") + LOCKSTEP_VERSION);
  add_doctor(app, options);
}

void add_moved(CLI::App& app, Options& options) {
  auto* moved = app.add_subcommand(
      "moved",
      "tell the agent of this machine where its launcher is now; the agent tries that "
      "address, and returns to the one it had if the launcher is not there");
  moved->add_option("--home", options.home, "of the agent");
  moved->add_option("--launcher", options.launcher,
                    "tcp://HOST:PORT; logs and files use the port after it");
  moved->add_option("--token-file", options.token_file,
                    "instead: a token that this launcher made where it is now, or -");
}

void add_notice(CLI::App& app, Options& options) {
  auto* notice = app.add_subcommand(
      "notice", "tell the agent of this machine that the machine will be taken away");
  notice->add_option("--home", options.home, "of the agent");
  notice->add_option("--seconds", options.notice_seconds, "how soon")
      ->required()
      ->check(CLI::Range(1, static_cast<int>(kLongestNotice / seconds(1))));
  notice->add_option("--reason", options.notice_reason, "shown where a job is stopped for it");
}

Result<Share> share_of(const Offer& offer) {
  Share share;
  share.part = offer.share;
  share.cpus = offer.cpus;
  share.gpus = offer.gpus;
  if (!offer.memory.empty()) {
    TRY_ASSIGN(share.memory, parse_size_flag("--memory", offer.memory, "512m or 16g"));
  }
  return share;
}

Result<Bytes> log_spool(const Options& options) {
  const auto size = parse_bytes(options.log_spool);
  if (size && *size >= kLeastLogSpool) return *size;
  return make_error(ErrorCode::invalid_argument,
                    "--log-spool " + options.log_spool + " is not a size of at least " +
                        to_string(kLeastLogSpool) + "; write 64m, 1g or a number of bytes");
}

Result<Bytes> cache_size(const Options& options, const AgentHome& home) {
  if (options.cache_size.empty()) return default_cache_size(home.path());
  if (options.cache_size == "unlimited" || options.cache_size == "0") return Bytes{};
  return parse_size_flag("--cache-size", options.cache_size, "500m, 50g or unlimited");
}

Result<Bytes> environments_size(const Options& options) {
  if (options.environments_size == "unlimited" || options.environments_size == "0") return Bytes{};
  return parse_size_flag("--environments-size", options.environments_size,
                         "500m, 50g or unlimited");
}

Result<Bytes> low_space(const Options& options) {
  if (options.low_space.empty()) return Bytes{};
  return parse_size_flag("--low-space", options.low_space, "500m or 5g");
}

Result<Duration> sample_every(const Options& options) {
  const Duration every = parse_duration(options.sample_every);
  if (every == Duration::zero() ||
      (every >= kShortestSampleInterval && every <= kLongestSampleInterval))
    return every;
  return make_error(ErrorCode::invalid_argument,
                    "--sample-every " + options.sample_every +
                        " is neither a time from 1s to 10m nor 0 (never); write 5s or 1m");
}

Result<Duration> taken_on_sigterm(const Options& options) {
  if (options.taken_on_sigterm.empty()) return Duration::zero();
  const Duration time = parse_duration(options.taken_on_sigterm);
  if (time >= seconds(1) && time <= kLongestNotice) return time;
  return make_error(ErrorCode::invalid_argument,
                    "--taken-on-sigterm " + options.taken_on_sigterm +
                        " is not a time from 1s to 24h; write 30s or 2m");
}

Result<LimitCaps> caps(const Options& options) {
  LimitCaps caps{options.max_pids_limit, {}, {}};
  const auto read = [](const std::string& flag, const std::string& text, Bytes least,
                       Bytes& cap) -> Status {
    if (text.empty()) return {};
    TRY_ASSIGN(cap, parse_size_flag(flag, text, "512m or 16g"));
    if (cap >= least) return {};
    return make_error(
        ErrorCode::invalid_argument,
        flag + " " + text + " is too small to run in; it must be at least " + to_string(least));
  };
  TRY(read("--max-log-limit", options.max_log_limit, kLeastLogLimit, caps.log));
  TRY(read("--max-disk-limit", options.max_disk_limit, kLeastDiskLimit, caps.disk));
  return caps;
}

}  // namespace lockstep::agent
