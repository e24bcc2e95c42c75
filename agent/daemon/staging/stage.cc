#include "agent/daemon/staging/stage.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "agent/daemon/outputs/retrying_sink.h"
#include "agent/daemon/staging/share.h"
#include "agent/workspace/client_home.h"
#include "agent/workspace/collect/rank_folders.h"
#include "agent/workspace/workspace.h"
#include "common/io/net/port_lease.h"
#include "common/io/process.h"
#include "common/snapshot/manifest.h"
#include "common/transfer/peer_server.h"

namespace lockstep::agent {
namespace {

// Jobs get the ports below these first.
constexpr io::PortRange kPeerPorts{6905, 7104};

// The server from which peers fetch this node's blobs, and the lease of its port.
struct Serving {
  io::PortLease lease;
  std::unique_ptr<transfer::PeerServer> server;
};

// Serves this node's blobs to peers. A node with a loopback address is reached by its own host
// alone. If all ports that firewalls should pass are taken, another port still serves the nodes
// that no firewall blocks.
Result<std::shared_ptr<Serving>> serve_peers(const Inventory& inventory, const io::KeyPair& keys,
                                             Workspace& workspace,
                                             const transfer::FetchProgress& fetch_progress) {
  TRY_ASSIGN(io::PortLease lease, io::PortLease::acquire_or_any(kPeerPorts));
  const std::string host = inventory.address_is_loopback ? "127.0.0.1" : "0.0.0.0";
  TRY_ASSIGN(auto server,
             transfer::PeerServer::start("tcp://" + host + ":" + std::to_string(lease.port()), keys,
                                         workspace.blobs(), fetch_progress));
  return std::make_shared<Serving>(Serving{std::move(lease), std::move(server)});
}

const auto kQuietly = [](const transfer::Progress&) {};

// Reads the lock only. The tree may hold the image beside it, which few peers need from this node.
Result<std::string> read_lock(const Digest& tree, snapshot::BlobStore& store, BlobSource& source) {
  if (!store.has(tree)) TRY(source.fetch(tree, {{tree, 0, true}}, store, kQuietly));
  TRY_ASSIGN(const std::string bytes, store.get(tree));
  TRY_ASSIGN(const snapshot::Directory folder, snapshot::decode_directory(bytes));
  const auto file =
      std::find_if(folder.entries.begin(), folder.entries.end(),
                   [](const snapshot::Entry& entry) { return entry.name == kLockFile; });
  if (file == folder.entries.end())
    return make_error(ErrorCode::corrupt, fmt::format("{} has no {}", tree.hex(), kLockFile));
  if (folder.entries.size() == 1 && !store.has(file->digest))
    TRY(source.fetch_tree(tree, store, kQuietly));
  else if (!store.has(file->digest))
    TRY(source.fetch(tree, {{file->digest, file->size, false}}, store, kQuietly));
  return store.get(file->digest, Bytes{envs::kMaxLockBytes});
}

LockFunctions lock_functions(const std::shared_ptr<Workspace>& workspace,
                             const std::shared_ptr<LauncherBlobs>& blobs) {
  LockFunctions functions;
  // One fetch at a time, since two users may want the same lock.
  functions.fetch = [workspace, blobs, one = std::make_shared<std::mutex>()](const Digest& tree) {
    const std::lock_guard guard(*one);
    auto text = read_lock(tree, workspace->blobs(), *blobs);
    // The store dropped a damaged blob of its cache. The second try fetches it from the launcher.
    if (!text && text.error().code == ErrorCode::corrupt)
      text = read_lock(tree, workspace->blobs(), *blobs);
    return text;
  };
  functions.store = [blobs](const std::string& folder) -> Result<Digest> {
    io::Fd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!opened) return errno_error(errno, "cannot open " + folder);
    TRY_ASSIGN(const snapshot::Snapshot tree,
               snapshot::capture_tree(std::move(opened), folder, {}));
    TRY(blobs->push(tree, kQuietly));
    return tree.root;
  };
  functions.write_out = [workspace, blobs](const Digest& tree, const std::string& folder,
                                           const LockFunctions::OnProgress& progress) -> Status {
    snapshot::BlobStore& store = workspace->blobs();
    TRY_ASSIGN(const auto missing, store.missing_blobs_from(tree));
    store.lease(tree);  // no tree of the cache refers to the tree, so a lease keeps it
    if (!missing.empty())
      TRY(blobs->fetch_tree(tree, store, [&](const transfer::Progress& so_far) {
        progress(fmt::format("{} of {}", to_string(Bytes{so_far.done_bytes}),
                             to_string(Bytes{so_far.total_bytes})));
      }));
    return snapshot::materialize(store, tree, folder);
  };
  return functions;
}

// Serves this node's blobs to its peers. Only the loop's thread uses it. While it cannot serve,
// peers fetch elsewhere.
class PeerService {
 public:
  PeerService(const io::KeyPair& keys, std::shared_ptr<Workspace> workspace,
              std::shared_ptr<transfer::FetchProgress> fetch_progress,
              std::shared_ptr<LauncherBlobs> blobs)
      : keys_(keys),
        workspace_(std::move(workspace)),
        fetch_progress_(std::move(fetch_progress)),
        blobs_(std::move(blobs)) {}

  void serve(const Inventory& inventory) {
    if (serving_ && is_loopback_ == inventory.address_is_loopback) return;
    auto serving = serve_peers(inventory, keys_, *workspace_, *fetch_progress_);
    const std::string before = std::exchange(why_not_, serving ? "" : serving.error().message);
    if (!serving) {
      if (before.empty())
        spdlog::warn("other nodes cannot fetch from this one: {}; trying on", why_not_);
      return;
    }
    serving_ = *std::move(serving);
    is_loopback_ = inventory.address_is_loopback;
    blobs_->serves_at(serving_->server->port());
  }
  void hear(const AllowPeers& said) {
    if (!serving_) return;
    serving_->server->forbid(said.revoked);
    if (said.withdrawn)
      serving_->server->withdraw(said.keys, said.root);
    else
      serving_->server->allow(said.keys, said.root);
  }

 private:
  const io::KeyPair keys_;
  // The server refers to the store and the fetch_progress, so they must live as long.
  const std::shared_ptr<Workspace> workspace_;
  const std::shared_ptr<transfer::FetchProgress> fetch_progress_;
  const std::shared_ptr<LauncherBlobs> blobs_;
  std::shared_ptr<Serving> serving_;
  std::string why_not_;  // why the server could not be started; "" while it serves
  bool is_loopback_ = false;
};

// The text of endpoint.json as the launcher writes it, with the addresses that this node dials.
class EndpointText {
 public:
  explicit EndpointText(const Identity& identity) { set(identity); }
  void set(const Identity& identity) {
    const nlohmann::json json = {{"control", identity.control_endpoint},
                                 {"bulk", identity.bulk_endpoint},
                                 {"join", ""},
                                 {"public_key", identity.launcher_key.value}};
    const std::lock_guard lock(mutex_);
    text_ = json.dump(2) + "\n";
  }
  std::string get() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

// Writes the new endpoint into the directories of all attempts here.
void renew_endpoints(const std::string& attempts, const std::string& endpoint) {
  const auto names = io::list_directory(attempts);
  for (const std::string& name : names ? *names : std::vector<std::string>())
    if (const Status done = renew_endpoint(io::AttemptDir(attempts + "/" + name), endpoint); !done)
      spdlog::warn("a job here is not told where the launcher is: {}", done.error().message);
}

// Writes the attempt's credential, which earlier versions of the launcher do not give.
Status give_credential(const Assignment& assignment, const io::AttemptDir& directory,
                       const std::string& endpoint) {
  if (assignment.credential.empty()) return {};
  const std::string& run_as = assignment.spec.run_as;
  TRY_ASSIGN(const io::User user, run_as.empty() ? io::current_user() : io::find_user(run_as));
  return make_client_home(directory, {endpoint, assignment.credential, assignment.attempt},
                          {user.uid, user.gid});
}

StageWorkspaceFunction stage_function(const std::shared_ptr<Workspace>& workspace,
                                      const std::shared_ptr<LauncherBlobs>& blobs,
                                      const std::shared_ptr<EndpointText>& endpoint) {
  return [workspace, blobs, endpoint](const Assignment& assignment, const io::AttemptDir& directory,
                                      const std::function<void(const std::string&)>& progress) {
    auto plan = workspace->stage(assignment, directory, *blobs, progress);
    if (plan)
      if (const Status given = give_credential(assignment, directory, endpoint->get()); !given)
        plan = given.error();
    // A job neither waits for the cache to be reduced nor fails if that fails.
    if (workspace->cache_has_grown())
      std::thread([workspace] {
        if (const Status kept = workspace->keep_cache_small(); !kept)
          spdlog::warn("could not reduce the cache: {}", kept.error().message);
      }).detach();
    return plan;
  };
}

OutputFunctions output_functions(const std::shared_ptr<Workspace>& workspace,
                                 const std::shared_ptr<LauncherBlobs>& blobs) {
  OutputFunctions functions;
  functions.is_anything_left = is_anything_left;
  functions.collect = [workspace, blobs](
                          const Assignment& assignment, const io::AttemptDir& directory,
                          const Interrupted& interrupted, const OutputFunctions::Progress& progress,
                          CancelToken& cancel) {
    AttemptSink launcher(*blobs, assignment.attempt, true);
    RetryingSink sink(launcher, progress, cancel);
    return workspace->collect(assignment, directory, *blobs, sink, progress, interrupted);
  };
  functions.capture_so_far = [workspace, blobs](const Assignment& assignment,
                                                const io::AttemptDir& directory,
                                                SoFarMemory& memory) {
    AttemptSink sink(*blobs, assignment.attempt, false);
    return workspace->capture_so_far(assignment, directory, *blobs, sink, memory);
  };
  functions.capture_checkpoint = [workspace, blobs](const Assignment& assignment,
                                                    const io::AttemptDir& directory,
                                                    CheckpointMemory& memory, bool insist) {
    AttemptSink so_far(*blobs, assignment.attempt, false);
    OutputSink& sink = insist ? static_cast<OutputSink&>(*blobs) : so_far;
    return workspace->capture_checkpoint(assignment, directory, *blobs, sink, memory, insist);
  };
  return functions;
}

}  // namespace

Result<WorkspaceFunctions> workspace_functions(const AgentHome& home, const Identity& identity,
                                               const io::KeyPair& keys, const Inventory& inventory,
                                               io::Transport& transport, Bytes cache_size,
                                               Bytes low_space) {
  TRY_ASSIGN(std::shared_ptr<Workspace> workspace,
             Workspace::open({home.cache(), inventory.workdir_mode,
                              CacheLimit{cache_size, home.attempts()}, low_space}));
  const auto fetch_progress = std::make_shared<transfer::FetchProgress>();
  const auto blobs = std::make_shared<LauncherBlobs>(transport, identity.bulk_endpoint,
                                                     identity.launcher_key, keys, fetch_progress);
  WorkspaceFunctions functions;
  const auto peers = std::make_shared<PeerService>(keys, workspace, fetch_progress, blobs);
  peers->serve(inventory);
  functions.allow_peers = [peers](const AllowPeers& said) { peers->hear(said); };
  const auto endpoint = std::make_shared<EndpointText>(identity);
  functions.serve_peers = [peers](const Inventory& has) { peers->serve(has); };
  functions.moved = [peers, blobs](const Identity& now, const Inventory& has) {
    blobs->dial_at(now.bulk_endpoint);
    peers->serve(has);
  };
  functions.settled = [endpoint, attempts = home.attempts()](const Identity& now) {
    const std::string before = endpoint->get();
    endpoint->set(now);
    if (endpoint->get() != before) renew_endpoints(attempts, endpoint->get());
  };
  functions.stage = stage_function(workspace, blobs, endpoint);
  functions.locks = lock_functions(workspace, blobs);
  functions.locks.share = share_functions(workspace, blobs);
  functions.outputs = output_functions(workspace, blobs);
  return functions;
}

}  // namespace lockstep::agent
