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
#include "common/io/net/transport.h"
#include "common/io/process.h"
#include "common/io/version_file.h"
#include "common/io/zones/machine_zones.h"
#include "common/snapshot/content/blob_store.h"
#include "launcher/api/reply_router.h"
#include "launcher/api/service.h"
#include "launcher/core/access/authority.h"
#include "launcher/core/base/sizes.h"
#include "launcher/core/jobs/children.h"
#include "launcher/daemon/action_router.h"
#include "launcher/daemon/blobs/caller_blobs.h"
#include "launcher/daemon/keys/attempt_keys.h"
#include "launcher/daemon/keys/join_tokens.h"
#include "launcher/daemon/keys/key_registry.h"
#include "launcher/daemon/moving_to.h"
#include "launcher/daemon/node_alarms.h"
#include "launcher/daemon/ports/auditor.h"
#include "launcher/daemon/ports/job_file_parser.h"
#include "launcher/daemon/ports/launcher_clock.h"
#include "launcher/daemon/ports/node_measurements.h"
#include "launcher/daemon/ports/operator_files_on_disk.h"
#include "launcher/daemon/ports/this_launcher.h"
#include "launcher/daemon/ports/user_secrets.h"
#include "launcher/daemon/providers/calls.h"
#include "launcher/daemon/remotes/fetcher.h"
#include "launcher/daemon/remotes/output_writer.h"
#include "launcher/daemon/remotes/writer.h"
#include "launcher/daemon/servers/bulk_sender.h"
#include "launcher/daemon/servers/bulk_server.h"
#include "launcher/daemon/servers/control_server.h"
#include "launcher/daemon/servers/node_mail.h"
#include "launcher/daemon/sockets.h"
#include "launcher/daemon/stores/disk_monitor.h"
#include "launcher/daemon/stores/durable_core.h"
#include "launcher/daemon/stores/store_compactor.h"
#include "launcher/files/targets/size_file.h"
#include "launcher/home/endpoint_file.h"
#include "launcher/home/home_lock.h"
#include "launcher/home/layout.h"
#include "launcher/home/start_record.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

namespace {

constexpr Duration kStalledRetry = milliseconds(5);  // only while a peer's queue is full
constexpr Duration kLookAgain =
    seconds(1);  // at the disk's space, and at who may use this launcher
constexpr Duration kTellWaitingEvery = seconds(1);
constexpr int kMessagesPerTurn = 256;  // of one socket, then the others have their turn

// What must stand before the first message: in this order, and torn down in reverse.
struct Daemon {
  Daemon(const Options& o, const LauncherHome& h, io::EventLoop& l, DurableCore& d)
      : options(o),
        home(h),
        loop(l),
        durable(d),
        space({h.path(), h.reserve(), o.low_space, o.reserve}),
        clock(d.clock()),
        key_registry(home.authorized_users()),
        transport(loop, [this](const std::string& domain, const PublicKey& key) {
          return key_registry.allows(domain, key);
        }) {}
  ~Daemon();

  Status open();
  Status open_audit();
  Status open_attempt_keys();
  void open_bulk();
  Status open_service();
  void open_control();
  void watch_sockets();
  void take_keys(std::vector<KeysFile::Line> lines);
  Status announce();
  Status open_providers(const wire::JoinToken& blank_token);
  EndpointFile endpoints() const;
  ExitCode run();
  // Everything that follows from what came in. False: leave, with `code`.
  void look_at_space();
  bool settle();
  bool settle_until_durable();
  void tell_of_nodes();
  void tell_waiting();
  void look_where_it_moves();
  void stop_without_journal(const Error& error);

  const Options& options;
  const LauncherHome& home;
  io::EventLoop& loop;
  DurableCore& durable;
  DiskMonitor space;
  LauncherClock clock;
  std::optional<AttemptKeys> attempts;
  KeyRegistry key_registry;
  io::Transport transport;
  io::KeyPair keys;
  std::unique_ptr<snapshot::BlobStore> blobs;
  std::unique_ptr<BlobLedger> ledger;
  std::optional<Sockets> sockets;
  std::optional<MovingTo> moving;
  std::optional<Auditor> auditor;
  // What the servers and the service share.
  Outbox outbox;
  std::optional<NodeMail> node_mail;
  UsageStore usage;
  PeerDirectory peers;
  std::optional<BulkSender> bulk_sender;
  std::optional<BlobService> blob_service;
  std::optional<BulkServer> bulk;
  // What the service uses, and the service.
  std::optional<UserSecrets> secrets;
  std::optional<JobFileParser> job_files;
  std::optional<ProviderCalls> providers;
  std::optional<RemoteFetcher> remotes;
  std::optional<CallerBlobs> caller_blobs;
  std::optional<OperatorFilesOnDisk> files;
  std::optional<NodeMeasurements> measurements;
  std::optional<ThisLauncher> this_launcher;
  ReplyRouter replies;
  std::optional<Service> service;
  std::optional<LauncherServer> control;
  std::optional<StoreCompactor> compactor;
  std::optional<NodeAlarms> node_alarms;
  std::optional<RemoteWriter> remote_writer;
  std::optional<OutputWriter> outputs;
  std::string owner;  // the account that runs this launcher
  Instant look_at_move, tell_waiting_at;
  bool may_exit = false;  // the core has said so
  bool leaving = false;
  ExitCode code = ExitCode::ok;
};

Daemon::~Daemon() {
  if (!sockets) return;
  for (auto* socket : {&sockets->control, &sockets->join, &sockets->bulk})
    loop.unwatch_socket(socket->handle());
}

template <typename Server>
void drain(io::ServerSocket& socket, Server& server,
           void (Server::*handle)(io::ServerSocket::Incoming)) {
  for (int i = 0; i < kMessagesPerTurn; ++i) {
    auto incoming = socket.receive();
    if (!incoming) return;
    (server.*handle)(std::move(*incoming));
  }
}

Status Daemon::open() {
  TRY_ASSIGN(keys, io::load_or_create_key_pair(home.launcher_key()));
  TRY_ASSIGN(blobs, snapshot::BlobStore::open(home.blobs()));
  TRY(open_audit());
  TRY(open_attempt_keys());
  TRY_ASSIGN(ledger, BlobLedger::open(home.blobs_sent()));
  TRY_ASSIGN(sockets, Sockets::bind(transport, keys, options.listen, home.endpoint(),
                                    [this](const PublicKey& key) {
                                      return key_registry.node_of(key).has_value();
                                    }));
  open_bulk();
  compactor.emplace(StoreCompactor::Parts{loop,
                                          durable,
                                          *blobs,
                                          bulk->logs(),
                                          home,
                                          {options.blob_lease, options.compact_after},
                                          space,
                                          ledger.get()});
  TRY(open_service());
  remote_writer.emplace(loop, *blobs, home.remote_data(), options.remote_silence);
  outputs.emplace(durable, *files, *remote_writer);
  open_control();
  watch_sockets();
  return {};
}

void Daemon::open_bulk() {
  node_mail.emplace(outbox, sockets->control);
  bulk_sender.emplace(sockets->bulk);
  blob_service.emplace(
      loop, *blobs, *ledger,
      [this](const std::string& peer, std::uint64_t reply_to, const BulkMessage& body) {
        return bulk_sender->send(peer, reply_to, body);
      });
  bulk.emplace(BulkServer::Parts{loop, durable, key_registry, *bulk_sender, *blobs, *blob_service,
                                 peers, home.logs(), space, *node_mail, *auditor});
}

Status Daemon::open_service() {
  const LauncherInfo info{advertised(sockets->control.endpoint(), options.advertise), getpid(),
                          home.path(), durable.started()};
  TRY_ASSIGN(const io::User user, io::current_user());
  owner = user.name;
  wire::JoinToken token;  // what all have in common
  token.launcher_key = keys.public_key;
  token.control_endpoint = advertised(sockets->control.endpoint(), options.advertise);
  token.bulk_endpoint = advertised(sockets->bulk.endpoint(), options.advertise);
  token.join_endpoint = advertised(sockets->join.endpoint(), options.advertise);
  moving.emplace(home.moving_to(), LauncherAddress{token.control_endpoint, token.bulk_endpoint});
  job_files.emplace(loop);
  secrets.emplace(home.secrets(), clock);
  TRY(open_providers(token));
  remotes.emplace(loop, *blobs, home.remote_data(), options.remote_silence);
  secrets->follow(durable.core().state().principals());
  caller_blobs.emplace(durable.core(), *blob_service, *remotes);
  files.emplace(OperatorFilesOnDisk::Paths{
      options.datastores.empty() ? home.datastores() : options.datastores,
      options.workspace_datastores, home.environments_map()});
  measurements.emplace(usage, peers, clock, options.silent_after);
  this_launcher.emplace(
      ThisLauncher::Parts{info, std::move(token), durable, space, *providers, *job_files});
  service.emplace(Service::Ports{durable, clock, *caller_blobs, *secrets, *files, *auditor,
                                 *measurements, *this_launcher, replies});
  return {};
}

void Daemon::open_control() {
  LauncherServer::Settings settings;
  settings.addresses = moving->addresses();
  settings.user_messages_per_second = options.user_messages_per_second;
  settings.heartbeat_interval = options.core.heartbeat_interval;
  settings.fabric = home.fabric();
  control.emplace(LauncherServer::Parts{durable, key_registry, sockets->control, sockets->join,
                                        *service, outbox, *node_mail, *caller_blobs, usage,
                                        *secrets, *attempts, *auditor, space},
                  std::move(settings));
  replies.add(LauncherServer::kAdapter, *control);
}

void Daemon::watch_sockets() {
  loop.watch_socket(sockets->control.handle(),
                    [this] { drain(sockets->control, *control, &LauncherServer::on_control); });
  loop.watch_socket(sockets->join.handle(),
                    [this] { drain(sockets->join, *control, &LauncherServer::on_join); });
  loop.watch_socket(sockets->bulk.handle(),
                    [this] { drain(sockets->bulk, *bulk, &BulkServer::on_bulk); });
}

Status Daemon::open_audit() {
  TRY_ASSIGN(auto log,
             AuditLog::open(home.audit(), audit_limits(options.keep_audit), durable.now()));
  auditor.emplace(loop, std::move(log), [this] { return durable.now(); });
  AuditEntry entry;
  entry.who = name_of(LauncherItself{});
  entry.what = "start";
  entry.object = "the launcher";
  entry.detail = fmt::format("version {}, pid {}", LOCKSTEP_VERSION, getpid());
  auditor->record(std::move(entry));
  node_alarms.emplace(
      NodeAlarms::Ports{[](const std::string& line) { spdlog::warn("{}", line); },
                        [](const std::string& line) { spdlog::info("{}", line); },
                        [this](AuditEntry news) { auditor->record(std::move(news)); }});
  node_alarms->begin(durable.now(), durable.core().state().nodes());
  transport.on_refused(
      [this](const std::string& domain, const PublicKey& key, const std::string& address) {
        AuditEntry refused;
        refused.who = name_of(Nobody{});
        refused.key = key.value;
        refused.address = address;
        refused.what = "connect";
        refused.object = "the " + domain + " port";
        refused.outcome = AuditOutcome::refused;
        refused.detail = "this key is not authorised";
        auditor->record(std::move(refused));
      });
  return {};
}

// Ranks that run already have keys: these are accepted from the first message on.
Status Daemon::open_attempt_keys() {
  TRY_ASSIGN(std::string secret, load_or_create_attempts_secret(home.attempts_key()));
  const State& state = durable.core().state();
  attempts.emplace(std::move(secret),
                   [&state](const AttemptId& attempt) { return caller_of(state, attempt); });
  for (const JobId& id : state.unfinished())
    if (const Attempt* last = state.job(id)->last_attempt()) (void)attempts->issue(last->id);
  key_registry.add(*attempts);
  return {};
}

void Daemon::take_keys(std::vector<KeysFile::Line> lines) {
  durable.ask([this, lines = std::move(lines)] {
    const Principals& principals = durable.core().state().principals();
    const std::map<PublicKey, std::string> before = principals.keys();
    durable.feed(KeysFileInput{{owner, lines}});
    auditor->record_keys(before, principals.keys());
  });
}

Status Daemon::announce() {
  const auto self = io::identify(getpid());
  if (!self) return make_error(ErrorCode::io, "cannot read /proc/self/stat");
  EndpointFile file = endpoints();
  file.pid = self->pid;
  file.start_ticks = self->start_ticks;
  // Without the file, a backup may have brought this home from another machine.
  const auto before = read_endpoint_file(home.endpoint());
  if (!before || before->control != file.control || before->bulk != file.bulk)
    durable.feed(LauncherMovedInput{});
  return write_endpoint_file(home.endpoint(), file);
}

EndpointFile Daemon::endpoints() const {
  EndpointFile file{0, 0, "", "", "", keys.public_key, io::current_boot().value};
  const auto place = [&](const io::ServerSocket& socket, std::string& far, std::string& here) {
    far = advertised(socket.endpoint(), options.advertise);
    here = as_dialled_here(socket.endpoint());
  };
  place(sockets->control, file.control, file.local_control);
  place(sockets->bulk, file.bulk, file.local_bulk);
  place(sockets->join, file.join, file.local_join);
  return file;
}

Status Daemon::open_providers(const wire::JoinToken& blank_token) {
  TRY(io::make_directories(home.compute(), 0700));
  const EndpointFile at = endpoints();
  const auto program = io::find_program("lockstep-provider");
  ProviderSetup setup{
      home,
      {tag_of(keys.public_key),
       {at.control, at.bulk, at.join},
       {at.local_control, at.local_bulk, at.local_join}},
      [this, ours = program ? *program : io::program_directory() + "/lockstep-provider"](
          const ComputeSpec& spec) { return provider_words(home, ours, spec); },
      [this] { return find_node_bundle(options.node_bundle); },
      [this](const std::string& target) -> const ComputeSpec* {
        const Compute* compute = durable.core().state().computes().find(target);
        return compute != nullptr ? &compute->spec : nullptr;
      },
      [this](const std::string& target, const std::string& machine) {
        return durable.core().state().computes().host_of(target, machine);
      },
      [this](const std::string& owner, const std::set<std::string>& names) {
        return secrets->values(owner, names);
      },
      [this](const std::string& size) {
        return size_called(durable.core().state(), durable.core().config(), size);
      },
      [this] { return accounts_of_submitters(durable.core().state().principals()); }};
  providers.emplace(ProviderCalls::Parts{
      loop, std::move(setup), [this] { return durable.now(); },
      [this](const Input& input) { durable.feed(input); },
      [blank_token](Instant expires) { return make_join_token(blank_token, expires); },
      [this](const Digest& secret_hash) {
        return durable.core().state().tokens().count(secret_hash) != 0;
      }});
  return {};
}

void Daemon::stop_without_journal(const Error& error) {
  spdlog::critical(
      "cannot write the journal: {}. The launcher stops; running jobs go on. Free space or "
      "repair the disk, then start lockstepd again",
      error.message);
  // For the one that is started next; this one cannot tell any more what was written.
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

// Users whose requests wait for a slow disk hear so about once a second.
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
  bool is_over = false;  // everything that was begun is done, and it leaves
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
    may_exit |= perform_all({*service, *control, *bulk, *outputs, *auditor, *compactor, *providers},
                            *actions);
    is_over = !durable.is_writing() && (leaving || may_exit);
    if (!is_over) durable.performed();
    bulk->turn_end();
  } while (!is_over && !durable.idle());
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
    wait = std::min({wait, Duration(kLookAgain), auditor->wait(), service->wait(),
                     providers->wait(), remotes->wait(durable.now())});
    if (bulk->stalled()) wait = std::min(wait, kStalledRetry);
    if (control->users_wait() || bulk->users_wait()) wait = Duration::zero();
    loop.turn(wait);
  }
  return code;
}

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
  for (const char* suffix : {"", "-wal", "-shm"})
    TRY(writable(io::close_to_others(home.journal() + suffix)));
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
  auto durable = DurableCore::recover(loop, home.journal(), core, sign_of_life(home));
  if (!durable) return report(ExitCode::store_refused, durable.error());
  if (const auto done = io::record_version(home.version(), kHomeVersion); !done)
    return report(ExitCode::store_refused, done.error());
  Daemon daemon(options, home, loop, **durable);
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
  // The recovered state is whole before anybody is told where to find us.
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
  signal(SIGXFSZ, SIG_IGN);  // a file size limit is an error of the write, not our death
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
