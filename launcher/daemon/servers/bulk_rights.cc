#include "launcher/daemon/servers/bulk_server.h"

#include <algorithm>

#include "common/snapshot/content/compress.h"
#include "launcher/api/outcome.h"
#include "launcher/core/access/users.h"
#include "launcher/core/names/objects.h"
#include "launcher/daemon/servers/bulk_verbs.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

namespace {

constexpr Duration kLookAtRightsEvery = milliseconds(500);

// The key of a node, even if it was removed.
std::optional<PublicKey> key_of_node(const State& state, NodeId id) {
  if (const Node* node = state.node(id)) return node->key;
  const auto removed = state.removed_nodes().find(id);
  if (removed == state.removed_nodes().end()) return std::nullopt;
  return removed->second.key;
}

}  // namespace

// Decides as for requests on the control socket. Followers report a missing job themselves.
Decision BulkServer::may_read(const PublicKey& key, const JobId& id) {
  const State& state = durable_.core().state();
  const Job* job = state.job(id);
  const auto client = keys_.client_of(key);
  if (job == nullptr || !client) return {true, false, ""};
  return may(state.principals(), *client, Permission::read_job, object_of(*job));
}

std::string BulkServer::why_not_read(const PublicKey& key, const JobId& job) {
  return may_read(key, job).why;
}

// Whether this is the first read of a job. A user who follows a pipeline requests each of its steps
// many times, but the audit log needs one entry.
bool BulkServer::is_first_read(const PublicKey& key, const JobId& job) {
  constexpr Duration kSameRead = minutes(10);
  constexpr std::size_t kMaxRemembered = 10'000;
  const Instant now = durable_.now();
  if (reads_.size() >= kMaxRemembered) reads_.clear();
  const auto [read, is_new] = reads_.try_emplace({key, job}, now);
  if (is_new) return true;
  const bool is_old = now - read->second > kSameRead;
  read->second = now;
  return is_old;
}

void BulkServer::audit(AuditOutcome outcome, std::string detail) {
  if (!handling_) return;
  const auto node = keys_.node_of(handling_->key);
  const auto client = keys_.client_of(handling_->key);
  AuditEntry entry;
  entry.who =
      node ? audited_node(durable_.core().state(), *node) : name_of(client.value_or(Nobody{}));
  entry.key = handling_->key.value;
  entry.address = handling_->address;
  entry.what = handling_->what;
  entry.object = handling_->object;
  entry.outcome = outcome;
  entry.detail = std::move(detail);
  audit_.record(std::move(entry));
}

// Versions of a running job's outputs are refused at the owner's limit; final outputs are refused
// above it.
std::string BulkServer::why_no_more_outputs(const BlobService::From& from,
                                            const std::optional<NodeId>& node,
                                            const PutBlobs& blobs) {
  const Core& core = durable_.core();
  if (!node) return "";
  if (from.attempt) {
    std::string over = core.why_no_more_files(from.attempt->job);
    if (!over.empty()) durable_.feed(OutputsRefusedInput{*from.attempt, *node, over});
    return over;
  }
  const Part* part = from.ended ? core.state().assigned_part(*from.ended, *node) : nullptr;
  if (part == nullptr) return "";
  std::uint64_t bytes = 0;
  for (const BlobPiece& piece : blobs.pieces)
    bytes += snapshot::piece_length(piece.total_size, piece.offset);
  const OutputRoom::Room room{core.room_for_files(from.ended->job), size_of(*part).outputs.count};
  const std::string& owner = core.state().job(from.ended->job)->spec.submitter;
  outputs_.keep_only([&core](const OutputRoom::PartKey& key) {
    const Part* open = core.state().assigned_part(key.first, key.second);
    return open != nullptr && !open->finished();
  });
  if (outputs_.take({*from.ended, *node}, owner, bytes, room)) return "";
  return core.why_no_more_files(from.ended->job, kMaxQuotaValue);
}

std::optional<Caller> BulkServer::caller_of(const PublicKey& key) {
  if (const auto node = keys_.node_of(key)) return Caller(NodeCaller{*node});
  return keys_.client_of(key);
}

bool BulkServer::is_assigned(NodeId node, const Digest& tree) const {
  const auto trees = durable_.core().trees_of(node);
  return std::find(trees.begin(), trees.end(), tree) != trees.end();
}

bool BulkServer::may_read(const PublicKey& key, const Digest& root, const JobId& id) {
  if (const auto node = keys_.node_of(key)) return is_assigned(*node, root);
  const auto client = keys_.client_of(key);
  if (!client) return false;
  if (id.value.empty()) return sees_asset_with(durable_.core().state(), *client, root);
  const Job* job = durable_.core().state().job(id);
  if (job == nullptr) return false;
  const Principals& principals = durable_.core().state().principals();
  if (!is_allowed(principals, *client, Permission::read_blobs, object_of(*job))) return false;
  const auto trees = durable_.core().trees_of(id);
  return std::find(trees.begin(), trees.end(), root) != trees.end();
}

// Sends blobs, with the same answer for a missing tree and for another user's tree.
void BulkServer::get_blobs(const BlobService::From& from, GetBlobs request) {
  if (!request.root)
    return refuse(from.peer, from.sequence,
                  {"the request names no tree: the program that sent the request is older than the "
                   "launcher; install the launcher's version"});
  if (!may_read(from.key, *request.root, request.job))
    return refuse(
        from.peer, from.sequence,
        {keys_.node_of(from.key)
             ? "this tree does not belong to an attempt that is assigned to this node"
             : "this tree does not belong to a job, data asset or model whose files this user may "
               "read"});
  blob_service_.handle(from, std::move(request));
}

// Assignments, keys, roles and jobs end in many ways. Transfers are checked regularly, so that none
// of those ways has to care about them.
void BulkServer::look_at_rights() {
  const Instant now = durable_.now();
  if (now - rights_looked_at_ < kLookAtRightsEvery && now >= rights_looked_at_) return;
  rights_looked_at_ = now;
  attachments_.look_again(now);
  blob_service_.look_again([this](const BlobService::From& from, const Digest& root,
                                  const JobId& job) { return may_read(from.key, root, job); });
  const auto ended = peers_.withdraw(now, [this](NodeId node, const FindPeers& ask) {
    return is_assigned(node, ask.lock ? *ask.lock : ask.root);
  });
  for (const auto& one : ended) {
    const auto key = key_of_node(durable_.core().state(), one.asker);
    if (!key) continue;
    for (const NodeId peer : one.peers) nodes_.tell(peer, AllowPeers{{*key}, one.root, true});
  }
}

}  // namespace lockstep::launcher
