#pragma once
// Fetches a tree from peers and launcher at once, for a thread that may block: fetch_plan.h with
// sockets. Each blob is verified before it enters the store; a peer that lies, vanishes or is slow
// is dropped, and the launcher, told about it at the end, is the last source.

#include <cstdint>
#include <set>

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

// All that is missing below `root`; `launcher` is a socket that is connected to its bulk port.
Status fetch_tree(io::ClientSocket launcher, const Digest& root, snapshot::BlobStore& into,
                  const SwarmSite& site, const OnProgress& progress = {},
                  TransferOptions options = {});

// Where files come from that no peer brings, in the launcher's place.
class Origin {
 public:
  struct News {
    std::uint64_t bytes = 0;  // raw, that came since the last poll; of whole files or not
    bool is_gone = false;     // nothing more comes
  };
  virtual ~Origin() = default;
  virtual void ask(const snapshot::BlobWanted& file) = 0;
  // Often, on the thread of the fetch. What came whole was put into the store. An error ends the
  // fetch.
  virtual Result<News> poll() = 0;
};

// Fetches these files of a tree whose directories are all in `into`: from peers, and this node's
// share from `origin`. Files that neither has are left out without an error. `lock`: the tree with
// the lock that names them all; whoever has it assigned may have them.
Status fetch_files(io::ClientSocket launcher, const Digest& root, const Digest& lock,
                   const std::set<Digest>& wanted, snapshot::BlobStore& into, const SwarmSite& site,
                   Origin& origin, const OnProgress& progress = {});

}  // namespace lockstep::transfer
