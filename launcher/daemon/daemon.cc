#include "launcher/daemon/daemon.h"

#include <fmt/format.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>

#include "common/io/event_loop.h"
#include "common/io/file_system.h"
#include "common/io/files/places.h"
#include "common/io/net/admission.h"
#include "common/io/process.h"
#include "common/io/version_file.h"
#include "common/io/zones/machine_zones.h"
#include "launcher/api/reply_router.h"
#include "launcher/core/access/authority.h"
#include "launcher/daemon/action_router.h"
#include "launcher/daemon/blobs/caller_blobs.h"
#include "launcher/daemon/daemon_impl.h"
#include "launcher/daemon/keys/key_registry.h"
#include "launcher/daemon/moving_to.h"
#include "launcher/daemon/ports/auditor.h"
#include "launcher/daemon/ports/job_file_parser.h"
#include "launcher/daemon/ports/launcher_clock.h"
#include "launcher/daemon/ports/node_measurements.h"
#include "launcher/daemon/ports/user_secrets.h"
#include "launcher/daemon/remotes/fetcher.h"
#include "launcher/daemon/remotes/output_writer.h"
#include "launcher/daemon/remotes/writer.h"
#include "launcher/daemon/servers/bulk_sender.h"
#include "launcher/daemon/servers/node_sender.h"
#include "launcher/daemon/stores/disk_monitor.h"
#include "launcher/daemon/stores/durable_core.h"
#include "launcher/daemon/stores/store_compactor.h"
#include "launcher/files/targets/size_file.h"
#include "launcher/home/home_lock.h"
#include "launcher/home/layout.h"
#include "launcher/home/start_record.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

namespace {

constexpr Duration kStalledRetry = milliseconds(5);  // used only while a peer's queue is full
constexpr Duration kLookAgain =
    seconds(1);  // how often the disk's space and the list of users are checked
constexpr Duration kTellWaitingEvery = seconds(1);

}  // namespace

Daemon::~Daemon() {
  if (!sockets) return;
  for (auto* socket : {&sockets->control, &sockets->join, &sockets->bulk})
    loop.unwatch_socket(socket->handle());
}

void Daemon::stop_without_journal(const Error& error) {
  spdlog::critical(
      "cannot write the journal: {}. The launcher stops; running jobs go on. Free space or "
      "repair the disk, then start lockstepd again",
      error.message);
  // The space is for the next launcher; this one no longer knows what was written.
  if (error.code == ErrorCode::resource_exhausted) space.give_all();
  code = ExitCode::commit_failed;
}

void Daemon::tell_of_nodes() {
  const Instant now = durable.now();
  node_alarms->take(now, durable.take_news());
  if (node_alarms->next_deadline() > now) return;
  const State& state = durable.core().state();
  node_alarms->remind(now, [&state](NodeId node) { return state.node(node) != nullptr; });
}

// Users whose requests wait for a slow disk are told about once a second.
void Daemon::tell_waiting() {
  const Duration slow_for = durable.writes().slow_for;
  const Instant now = durable.now();
  if (slow_for == Duration(0) || now < tell_waiting_at) return;
  tell_waiting_at = now + kTellWaitingEvery;
  control->tell_waiting({slow_for}, now + kWaitsForDiskLasts);
  service->tell_pending({slow_for}, now + kWaitsForDiskLasts);
}

void Daemon::look_where_it_moves() {
  const Instant now = durable.now();
  if (now < look_at_move || !control) return;
  look_at_move = now + kLookAgain;
  if (!moving->look()) return;
  const auto& addresses = moving->addresses();
  AuditEntry entry;
  entry.who = name_of(LauncherItself{});
  entry.what = "move";
  entry.object = "the launcher";
  entry.detail =
      addresses.size() > 1 ? "it will be at " + addresses.back().control : "it stays where it is";
  spdlog::info("the launcher moves: {}; its nodes are told", entry.detail);
  auditor->record(std::move(entry));
  control->tell_addresses(addresses);
}

void Daemon::look_at_space() {
  const DiskMonitor::Level before = space.level();
  space.look(durable.now());
  if (before != DiskMonitor::Level::well || space.level() == DiskMonitor::Level::well) return;
  if (const std::string whose = durable.core().whose_files(); !whose.empty())
    spdlog::warn("whose jobs' logs, outputs, checkpoints and sources take most of it: {}", whose);
}

bool Daemon::settle() {
  bool is_over = false;  // everything that was begun is done, and the launcher ends
  do {
    look_at_space();
    if (auto lines = key_registry.file().look()) take_keys(*std::move(lines));
    look_where_it_moves();
    durable.tick();
    tell_of_nodes();
    control->serve_users();
    bulk->serve_users();
    const bool was_writing = durable.is_writing();
    auto actions = durable.end_turn();
    if (!actions) {
      stop_without_journal(actions.error());
      return false;
    }
    if (!durable.is_writing()) control->release_answers();
    if (durable.is_writing() && !was_writing) control->hold_answers();
    tell_waiting();
    remotes->tell_waiting(durable.now());
    may_exit |= perform_all(
        {*service, *control, *bulk, *metrics, *outputs, *auditor, *compactor, *providers},
        *actions);
    is_over = !durable.is_writing() && (leaving || may_exit);
    if (!is_over) durable.performed();
    bulk->turn_end();
  } while (!is_over && !durable.idle());
  archiver.turn_end();
  metrics->turn_end(durable.now());
  compactor->turn_end();
  auditor->turn_end();
  providers->turn_end();
  if (bulk->failure()) {
    spdlog::critical(
        "{}, so the launcher stops; jobs go on. Repair the disk and start lockstepd again",
        bulk->failure()->message);
    code = ExitCode::logs_failed;
    return false;
  }
  return !is_over;
}

bool Daemon::settle_until_durable() {
  while (settle()) {
    if (!durable.is_writing()) return true;
    loop.turn(kLookAgain);
  }
  return false;
}

ExitCode Daemon::run() {
  while (settle()) {
    Duration wait = std::min(durable.wait(), compactor->wait());
    wait = std::min({wait, Duration(kLookAgain), archiver.wait(), auditor->wait(), service->wait(),
                     providers->wait(), remotes->wait(durable.now())});
    if (bulk->stalled()) wait = std::min(wait, kStalledRetry);
    if (control->users_wait() || bulk->users_wait()) wait = Duration::zero();
    loop.turn(wait);
  }
  return code;
}

namespace {

ExitCode report(ExitCode code, const Error& error) {
  spdlog::critical("{}", error.message);
  return code;
}

Result<io::FileLock> take_home(const LauncherHome& home) {
  const auto writable = [&](const Status& done) -> Status {
    if (done) return {};
    return make_error(done.error().code,
                      fmt::format("{}; the launcher keeps its journal, logs and files in --home "
                                  "{}: give it a directory that it can write to",
                                  done.error().message, home.path()));
  };
  TRY(writable(io::make_directories(home.path(), 0700)));
  TRY_ASSIGN(const std::string mended, io::secure_home(home.path(), 0700));
  if (!mended.empty()) spdlog::warn("{}", mended);
  io::leave_home_out_of_snapshots(home.path());
  TRY(writable(io::make_directories(home.keys(), 0700)));
  for (const std::string& database : {home.journal(), home.archive(), home.metrics()})
    for (const char* suffix : {"", "-wal", "-shm"})
      TRY(writable(io::close_to_others(database + suffix)));
  auto lock = lock_home(home);
  if (!lock && lock.error().code != ErrorCode::conflict) TRY(writable(lock.error()));
  return lock;
}

StartRecord record_of(const Options& options) {
  StartRecord record{options.by_lockstep, options.command, to_string(io::SystemClock().now()), ""};
  if (!record.command.empty()) record.command[0] = io::program_directory() + "/lockstepd";
  return record;
}

ExitCode run_in(const Options& options, const LauncherHome& home) {
  if (const auto done = io::expect_version(home.version(), kHomeVersion, "launcher's home"); !done)
    return report(ExitCode::store_refused, done.error());
  CoreConfig core = options.core;
  core.allow_root = options.allow_root;
  if (const auto space = io::disk_space(home.path()))
    core.job_files_per_user = Bytes{space->total.count / 2};
  if (const auto user = io::current_user()) core.account = user->name;
  auto catalogue = spec::builtin_sizes();
  if (!catalogue) return report(ExitCode::internal, catalogue.error());
  core.catalogue = *std::move(catalogue);
  core.zones = io::system_time_zones();
  io::EventLoop loop;
  Archiver archiver(loop, home.journal(), home.archive());
  auto durable = DurableCore::recover(loop, home.journal(), core, sign_of_life(home), &archiver);
  if (!durable) return report(ExitCode::store_refused, durable.error());
  if (const auto done = io::record_version(home.version(), kHomeVersion); !done)
    return report(ExitCode::store_refused, done.error());
  Daemon daemon(options, home, loop, **durable, archiver);
  if (const auto done = daemon.space.expect_possible(); !done)
    return report(ExitCode::usage, done.error());
  const auto on_signal = [&daemon](int signal) {
    spdlog::info("signal {}: stopping the launcher; jobs go on", signal);
    daemon.leaving = true;
  };
  if (const auto done = daemon.loop.watch_signals({SIGTERM, SIGINT}, on_signal); !done)
    return report(ExitCode::internal, done.error());
  if (const auto done = daemon.open(); !done)
    return report(daemon.auditor ? ExitCode::cannot_listen : ExitCode::store_refused, done.error());
  // The recovered state is complete before the launcher's address is published.
  if (!daemon.settle_until_durable()) return daemon.code;
  if (const auto done = daemon.announce(); !done)
    return report(ExitCode::store_refused, done.error());
  spdlog::info("lockstepd {} listens on {}", LOCKSTEP_VERSION, daemon.sockets->control.endpoint());
  return daemon.run();
}

}  // namespace

// Whether a launcher of this home runs, and so tells its nodes.
Result<bool> leave_word(const LauncherHome& home, const Listen& there) {
  if (!io::exists(home.journal()))
    return make_error(
        ErrorCode::not_found,
        fmt::format("--moving-to: no launcher has run with the home {} yet, so it has "
                    "no nodes to tell; check --home",
                    home.path()));
  TRY(write_moving_to(home.moving_to(), there));
  TRY_ASSIGN(const std::optional<io::FileLock> lock, io::FileLock::try_acquire(home.lock()));
  return !lock.has_value();
}

ExitCode run_daemon(const Options& options) {
  signal(SIGPIPE, SIG_IGN);
  // Exceeding a file size limit then fails the write, instead of killing the process.
  signal(SIGXFSZ, SIG_IGN);
  io::raise_open_files_limit();
  io::forbid_core_dumps();
  const LauncherHome home(options.home);
  if (options.moving_to) {
    const auto told = leave_word(home, *options.moving_to);
    if (!told) return report(ExitCode::store_refused, told.error());
    if (*told) {
      spdlog::info(
          "the launcher that runs with {} tells its nodes within a second that it will be at "
          "tcp://{}:{}; then stop it, and start it there",
          home.path(), options.moving_to->host, options.moving_to->port);
      return ExitCode::ok;
    }
  }
  const auto lock = take_home(home);
  if (!lock)
    return report(lock.error().code == ErrorCode::conflict ? ExitCode::already_running
                                                           : ExitCode::store_refused,
                  lock.error());
  if (options.moving_to)
    if (const auto done = write_moving_to(home.moving_to(), *options.moving_to); !done)
      return report(ExitCode::store_refused, done.error());
  StartRecord record = record_of(options);
  if (const auto done = write_start_record(home.started(), record); !done)
    return report(ExitCode::store_refused, done.error());
  const ExitCode code = run_in(options, home);
  record.ended = to_string(io::SystemClock().now());
  if (const auto done = write_start_record(home.started(), record); !done)
    spdlog::warn("{}", done.error().message);
  return code;
}

}  // namespace lockstep::launcher
