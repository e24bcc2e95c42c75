#include <utility>

#include "agent/workspace/workspace.h"

namespace lockstep::agent {
namespace {

// A launcher that has just started may refuse the socket's key, and the refused socket stays silent
// for ever. After this time another one is dialled.
constexpr Duration kSilenceOfLauncher = seconds(20);

}  // namespace

LauncherBlobs::LauncherBlobs(io::Transport& transport, std::string endpoint, PublicKey launcher_key,
                             io::KeyPair keys,
                             std::shared_ptr<transfer::FetchProgress> fetch_progress)
    : transport_(transport),
      endpoint_(std::move(endpoint)),
      launcher_key_(std::move(launcher_key)),
      keys_(std::move(keys)),
      fetch_progress_(std::move(fetch_progress)) {}

void LauncherBlobs::dial_at(const std::string& endpoint) {
  const std::lock_guard lock(mutex_);
  endpoint_ = endpoint;
}

Result<io::ClientSocket> LauncherBlobs::connect() const {
  const std::lock_guard lock(mutex_);
  return io::ClientSocket::connect(transport_, endpoint_, launcher_key_, keys_);
}

Status LauncherBlobs::fetch_tree(const Digest& root, snapshot::BlobStore& cache,
                                 const transfer::OnProgress& progress,
                                 const transfer::Admit& admit) {
  TRY_ASSIGN(io::ClientSocket socket, connect());
  const transfer::SwarmSite site{transport_, keys_, *fetch_progress_, port_.load()};
  transfer::TransferOptions options;
  options.admit = admit;
  return transfer::fetch_tree(std::move(socket), root, cache, site, progress, options);
}

Status LauncherBlobs::fetch(const Digest& root, const std::vector<snapshot::BlobWanted>& wanted,
                            snapshot::BlobStore& cache, const transfer::OnProgress& progress) {
  TRY_ASSIGN(io::ClientSocket socket, connect());
  return transfer::download(socket, root, wanted, cache, progress);
}

Status LauncherBlobs::fetch_files(const Digest& root, const Digest& lock,
                                  const std::set<Digest>& wanted, snapshot::BlobStore& cache,
                                  transfer::Origin& origin, const transfer::OnProgress& progress) {
  TRY_ASSIGN(io::ClientSocket socket, connect());
  const transfer::SwarmSite site{transport_, keys_, *fetch_progress_, port_.load()};
  return transfer::fetch_files(std::move(socket), root, lock, wanted, cache, site, origin,
                               progress);
}

Status LauncherBlobs::push(const snapshot::Snapshot& tree, const transfer::OnProgress& progress) {
  return push(tree, progress, transfer::TransferOptions());
}

Status LauncherBlobs::push_for(const AttemptId& attempt, bool is_final,
                               const snapshot::Snapshot& tree,
                               const transfer::OnProgress& progress) {
  transfer::TransferOptions options;
  options.of_attempt = attempt;
  options.final_outputs = is_final;
  return push(tree, progress, std::move(options));
}

Status LauncherBlobs::push(const snapshot::Snapshot& tree, const transfer::OnProgress& progress,
                           transfer::TransferOptions options) {
  TRY_ASSIGN(io::ClientSocket socket, connect());
  options.give_up_after = kSilenceOfLauncher;
  auto sent = transfer::upload_snapshot(socket, tree, progress, std::move(options));
  if (!sent) return std::move(sent).error();
  return {};
}

}  // namespace lockstep::agent
