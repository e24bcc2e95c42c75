#include "launcher/daemon/daemon.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "common/io/file_system.h"
#include "common/io/net/transport.h"
#include "common/io/process.h"
#include "common/snapshot/content/blob_store.h"
#include "launcher/api/service.h"
#include "launcher/core/access/authority.h"
#include "launcher/core/base/sizes.h"
#include "launcher/core/jobs/children.h"
#include "launcher/daemon/daemon_impl.h"
#include "launcher/daemon/keys/attempt_keys.h"
#include "launcher/daemon/keys/join_tokens.h"
#include "launcher/daemon/node_alarms.h"
#include "launcher/daemon/ports/operator_files_on_disk.h"
#include "launcher/daemon/ports/this_launcher.h"
#include "launcher/daemon/providers/calls.h"
#include "launcher/daemon/servers/bulk_server.h"
#include "launcher/daemon/servers/control_server.h"
#include "launcher/daemon/sockets.h"
#include "launcher/daemon/stores/disk_monitor.h"
#include "launcher/daemon/stores/store_compactor.h"
#include "launcher/home/endpoint_file.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

namespace {

constexpr int kMessagesPerTurn = 256;  // messages of one socket, before the others get their turn

template <typename Server>
void drain(io::ServerSocket& socket, Server& server,
           void (Server::*handle)(io::ServerSocket::Incoming)) {
  for (int i = 0; i < kMessagesPerTurn; ++i) {
    auto incoming = socket.receive();
    if (!incoming) return;
    (server.*handle)(std::move(*incoming));
  }
}

}  // namespace

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
                                          ledger.get(),
                                          &archiver});
  TRY(open_service());
  remote_writer.emplace(loop, *blobs, home.remote_data(), options.remote_silence);
  outputs.emplace(durable, *files, *remote_writer);
  open_control();
  watch_sockets();
  return {};
}

void Daemon::open_bulk() {
  node_sender.emplace(outbox, sockets->control);
  bulk_sender.emplace(sockets->bulk);
  blob_service.emplace(
      loop, *blobs, *ledger,
      [this](const std::string& peer, std::uint64_t reply_to, const BulkMessage& body) {
        return bulk_sender->send(peer, reply_to, body);
      });
  metrics.emplace(loop, durable.core().state(), home.metrics(), home.logs());
  metrics->begin();
  bulk.emplace(BulkServer::Parts{loop, durable, key_registry, *bulk_sender, *blobs, *blob_service,
                                 peers, home.logs(), space, *node_sender, *auditor,
                                 [this](const LogKey& log) { metrics->grew(log); }});
}

Status Daemon::open_service() {
  const LauncherInfo info{advertised(sockets->control.endpoint(), options.advertise), getpid(),
                          home.path(), durable.started()};
  TRY_ASSIGN(const io::User user, io::current_user());
  owner = user.name;
  wire::JoinToken token;  // the fields that all tokens share
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
                                 *measurements, *metrics, *this_launcher, replies});
  return {};
}

void Daemon::open_control() {
  LauncherServer::Settings settings;
  settings.addresses = moving->addresses();
  settings.user_messages_per_second = options.user_messages_per_second;
  settings.heartbeat_interval = options.core.heartbeat_interval;
  settings.fabric = home.fabric();
  control.emplace(LauncherServer::Parts{durable, key_registry, sockets->control, sockets->join,
                                        *service, outbox, *node_sender, *caller_blobs, usage,
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

// Running ranks already have keys, which are accepted from the first message on.
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
  // If the file is missing, a backup may have brought this home from another machine.
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

}  // namespace lockstep::launcher
