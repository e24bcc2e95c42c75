#pragma once
// Serves the blobs of a node's cache to other nodes, on a socket with its own thread, so that
// heartbeats never wait for it. It accepts only keys that the launcher named recently, each for the
// trees that it was named for. It serves a limited number of nodes at once and tells the others to
// try again. It changes nothing in the store.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/time.h"
#include "common/domain/messages/agent_protocol.h"
#include "common/io/net/transport.h"
#include "common/snapshot/content/blob_store.h"
#include "common/transfer/fetch_progress.h"

namespace lockstep::transfer {

struct PeerServerLimits {
  std::size_t askers = 4;                  // nodes served at once
  std::size_t requests = 4;                // open requests of each
  std::uint64_t turn_bytes = 16u << 20;    // then a node makes room, if another was refused
  Duration stuck_after = seconds(5);       // a node that takes no data for this long is stuck
  Duration allowed_for = kPeerAllowedFor;  // the time since the key was last named
};

class PeerServer {
 public:
  // `store` and `fetch_progress` must outlive it. An endpoint with port * gets a free port.
  static Result<std::unique_ptr<PeerServer>> start(const std::string& endpoint,
                                                   const io::KeyPair& keys,
                                                   snapshot::BlobStore& store,
                                                   const FetchProgress& fetch_progress,
                                                   PeerServerLimits limits = {});
  ~PeerServer();
  PeerServer(const PeerServer&) = delete;
  PeerServer& operator=(const PeerServer&) = delete;

  std::string endpoint() const;
  std::uint16_t port() const;
  // These three may be called from any thread. This one lets the keys fetch blobs below `root`.
  void allow(const std::vector<PublicKey>& keys, const Digest& root);
  // Ends that; blobs of the tree that are being sent to them are stopped.
  void withdraw(const std::vector<PublicKey>& keys, const Digest& root);
  // Ends that for all trees, for ever.
  void forbid(const std::vector<PublicKey>& keys);

 private:
  struct Impl;
  explicit PeerServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::transfer
