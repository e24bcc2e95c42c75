#include <utility>

#include "agent/workspace/workspace.h"

namespace lockstep::agent {
namespace {

// A socket whose key was refused, by a launcher that has just started, is silent for ever: another
// is dialled soon.
constexpr Duration kSilenceOfLauncher = seconds(20);

}  // namespace

LauncherBlobs::LauncherBlobs(io::Transport& transport, std::string endpoint, PublicKey launcher_key,
                             io::KeyPair keys)
    : transport_(transport),
      endpoint_(std::move(endpoint)),
      launcher_key_(std::move(launcher_key)),
      keys_(std::move(keys)) {}

Status LauncherBlobs::fetch_tree(const Digest& root, snapshot::BlobStore& cache,
                                 const transfer::OnProgress& progress) {
  TRY_ASSIGN(io::ClientSocket socket,
             io::ClientSocket::connect(transport_, endpoint_, launcher_key_, keys_));
  return transfer::download_tree(socket, root, cache, progress);
}

Status LauncherBlobs::fetch(const std::vector<snapshot::BlobWanted>& wanted,
                            snapshot::BlobStore& cache, const transfer::OnProgress& progress) {
  TRY_ASSIGN(io::ClientSocket socket,
             io::ClientSocket::connect(transport_, endpoint_, launcher_key_, keys_));
  return transfer::download(socket, wanted, cache, progress);
}

Status LauncherBlobs::push(const snapshot::Snapshot& tree, const transfer::OnProgress& progress) {
  TRY_ASSIGN(io::ClientSocket socket,
             io::ClientSocket::connect(transport_, endpoint_, launcher_key_, keys_));
  transfer::TransferOptions options;
  options.give_up_after = kSilenceOfLauncher;
  auto sent = transfer::upload_snapshot(socket, tree, progress, options);
  if (!sent) return std::move(sent).error();
  return {};
}

}  // namespace lockstep::agent
