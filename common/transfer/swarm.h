#pragma once
// Fetches a tree from peers and launcher at once, for a thread that may block: fetch_plan.h with
// sockets. Each blob is verified before it enters the store; a peer that lies, vanishes or is slow
// is dropped, and the launcher, told about it at the end, is the last source.

#include <cstdint>

#include "common/io/transport.h"
#include "common/transfer/fetch_board.h"
#include "common/transfer/fetch_plan.h"
#include "common/transfer/transfer.h"

namespace lockstep::transfer {

// Below this the launcher alone is asked: finding peers would take longer.
inline constexpr std::uint64_t kWorthPeersBytes = 1u << 20;

struct SwarmSite {
  io::Transport& transport;
  const io::KeyPair& keys;  // of this node
  FetchBoard& board;        // what its own peer server tells others
  std::uint16_t port = 0;   // where that server listens; 0 = there is none
  FetchLimits limits = {};
};

// All that lacks below `root`; `launcher` is a socket that is connected to its bulk port.
Status fetch_tree(io::ClientSocket launcher, const Digest& root, snapshot::BlobStore& into,
                  const SwarmSite& site, const OnProgress& progress = {},
                  TransferOptions options = {});

}  // namespace lockstep::transfer
