#pragma once
// The parts of lockstepd: the objects of the process, opened in order.

#include "common/io/event_loop.h"
#include "common/io/net/transport.h"
#include "common/snapshot/content/blob_store.h"
#include "launcher/api/reply_router.h"
#include "launcher/api/service.h"
#include "launcher/daemon/blobs/caller_blobs.h"
#include "launcher/daemon/daemon.h"
#include "launcher/daemon/keys/attempt_keys.h"
#include "launcher/daemon/keys/key_registry.h"
#include "launcher/daemon/moving_to.h"
#include "launcher/daemon/node_alarms.h"
#include "launcher/daemon/ports/auditor.h"
#include "launcher/daemon/ports/job_file_parser.h"
#include "launcher/daemon/ports/job_metrics.h"
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
#include "launcher/daemon/servers/node_sender.h"
#include "launcher/daemon/sockets.h"
#include "launcher/daemon/stores/archiver.h"
#include "launcher/daemon/stores/disk_monitor.h"
#include "launcher/daemon/stores/durable_core.h"
#include "launcher/daemon/stores/store_compactor.h"
#include "launcher/home/endpoint_file.h"
#include "launcher/home/layout.h"

namespace lockstep::launcher {

// Everything that must exist before the first message, in this order; it is destroyed in reverse.
struct Daemon {
  Daemon(const Options& o, const LauncherHome& h, io::EventLoop& l, DurableCore& d, Archiver& a)
      : options(o),
        home(h),
        loop(l),
        durable(d),
        archiver(a),
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
  Archiver& archiver;
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
  // Shared by the servers and the service.
  Outbox outbox;
  std::optional<NodeSender> node_sender;
  UsageStore usage;
  PeerDirectory peers;
  std::optional<BulkSender> bulk_sender;
  std::optional<BlobService> blob_service;
  std::optional<JobMetrics> metrics;
  std::optional<BulkServer> bulk;
  // The parts that the service uses, and the service.
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

}  // namespace lockstep::launcher
