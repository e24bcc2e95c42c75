#pragma once
// The launcher's blob store and its remotes, for the service (launcher/api/ports/blobs.h). It says
// whose turn each piece of work takes, and which trees are the caller's own. The work itself is
// BlobService's and RemoteFetcher's.

#include "launcher/api/ports/blobs.h"
#include "launcher/core/core.h"
#include "launcher/daemon/blobs/blob_server.h"
#include "launcher/daemon/remotes/fetcher.h"

namespace lockstep::launcher {

class CallerBlobs final : public Blobs {
 public:
  CallerBlobs(const Core& core, BlobService& blobs, RemoteFetcher& remotes)
      : core_(core), blobs_(blobs), remotes_(remotes) {}

  void check_whole(const Caller& caller, const Digest& root,
                   std::function<void(Result<bool>)> then) override;
  void measure(const Caller& caller, const Digest& root,
               std::function<void(Result<Bytes>)> then) override;
  void find(const Caller& caller, const TreeQuestion& question,
            std::function<void(Result<snapshot::Subtree>)> then) override;
  void compare(const Caller& caller, std::vector<PartChange> changes,
               std::function<void(std::vector<PartChange>)> then) override;
  void fetch_remote(const Caller& caller, const RemoteFiles& files,
                    std::function<void(const std::string&)> tell,
                    std::function<void(Result<snapshot::Subtree>)> then) override;

 private:
  const Core& core_;
  BlobService& blobs_;
  RemoteFetcher& remotes_;
};

}  // namespace lockstep::launcher
