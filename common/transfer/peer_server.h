#pragma once
// Where a node serves the blobs of its cache to other nodes: a socket with a thread of its own, so
// that heartbeats never wait for it. Only keys that the launcher named a short while ago are let
// in, each for the trees for which it was named; only so many askers are served at once, others are
// refused for now. It changes nothing in the store.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/time.h"
#include "common/domain/agent_messages.h"
#include "common/io/transport.h"
#include "common/snapshot/blob_store.h"
#include "common/transfer/fetch_board.h"

namespace lockstep::transfer {

struct PeerServerLimits {
  std::size_t askers = 4;                  // served at once
  std::size_t requests = 4;                // open, of each
  std::uint64_t turn_bytes = 16u << 20;    // then an asker makes room, if another was refused
  Duration stuck_after = seconds(5);       // an asker that takes nothing
  Duration allowed_for = kPeerAllowedFor;  // since its key was named last
};

class PeerServer {
 public:
  // `store` and `board` outlive it. An endpoint with port * gets a free one.
  static Result<std::unique_ptr<PeerServer>> start(const std::string& endpoint,
                                                   const io::KeyPair& keys,
                                                   snapshot::BlobStore& store,
                                                   const FetchBoard& board,
                                                   PeerServerLimits limits = {});
  ~PeerServer();
  PeerServer(const PeerServer&) = delete;
  PeerServer& operator=(const PeerServer&) = delete;

  std::string endpoint() const;
  std::uint16_t port() const;
  // From any thread. They may fetch what is below `root`.
  void allow(const std::vector<PublicKey>& keys, const Digest& root);
  // Ends that, also for transfers in progress.
  void withdraw(const std::vector<PublicKey>& keys, const Digest& root);
  // The same for all trees, permanently.
  void forbid(const std::vector<PublicKey>& keys);

 private:
  struct Impl;
  explicit PeerServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::transfer
