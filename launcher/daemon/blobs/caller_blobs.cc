#include "launcher/daemon/blobs/caller_blobs.h"

#include <utility>

#include "launcher/core/names/objects.h"
#include "launcher/daemon/blobs/blob_owner.h"
#include "launcher/daemon/work/principal.h"

namespace lockstep::launcher {

void CallerBlobs::check_whole(const Caller& caller, const Digest& root,
                              std::function<void(Result<bool>)> then) {
  BlobOwner owner = blob_owner_of(core_, caller);
  // A colleague may have sent the files from which an environment of their project is built.
  if (sees_context(core_.state(), caller, root)) owner.trees.push_back(root);
  blobs_.check(principal_of(caller), std::move(owner), root, std::move(then));
}

void CallerBlobs::measure(const Caller& caller, const Digest& root,
                          std::function<void(Result<Bytes>)> then) {
  blobs_.measure(principal_of(caller), root, std::move(then));
}

void CallerBlobs::find(const Caller& caller, const TreeQuestion& question,
                       std::function<void(Result<snapshot::Subtree>)> then) {
  blobs_.find_tree(principal_of(caller), question, std::move(then));
}

void CallerBlobs::compare(const Caller& caller, std::vector<PartChange> changes,
                          std::function<void(std::vector<PartChange>)> then) {
  blobs_.compare(principal_of(caller), std::move(changes), std::move(then));
}

void CallerBlobs::fetch_remote(const Caller& caller, const RemoteFiles& files,
                               std::function<void(const std::string&)> tell,
                               std::function<void(Result<snapshot::Subtree>)> then) {
  remotes_.fetch(principal_of(caller), files, std::move(tell), std::move(then));
}

}  // namespace lockstep::launcher
