#pragma once
// Fetches a tree from peers and the launcher at the same time, on a thread that may block. It
// drives fetch_plan.h with sockets. Each blob is verified before it enters the store. A peer that
// sends wrong data, vanishes or is slow is dropped. The launcher is the last source, and gets a
// report at the end.

#include <cstdint>
#include <set>

#include "common/io/net/transport.h"
#include "common/transfer/fetch_plan.h"
#include "common/transfer/fetch_progress.h"
#include "common/transfer/transfer.h"

namespace lockstep::transfer {

// The least size for peers: for smaller fetches, finding peers would take longer.
inline constexpr std::uint64_t kWorthPeersBytes = 1u << 20;

struct SwarmSite {
  io::Transport& transport;
  const io::KeyPair& keys;        // the keys of this node
  FetchProgress& fetch_progress;  // read by this node's peer server to answer others
  std::uint16_t port = 0;         // the port of that server; 0 = it does not run
  FetchLimits limits = {};
};

// Fetches everything that is missing below `root`. `launcher`: a socket connected to the launcher's
// bulk port.
Status fetch_tree(io::ClientSocket launcher, const Digest& root, snapshot::BlobStore& into,
                  const SwarmSite& site, const OnProgress& progress = {},
                  TransferOptions options = {});

// A source of files that replaces the launcher, for files that no peer has.
class Origin {
 public:
  struct News {
    std::uint64_t bytes = 0;  // raw bytes received since the last poll, also of incomplete files
    bool is_gone = false;     // nothing more will come
  };
  virtual ~Origin() = default;
  virtual void ask(const snapshot::BlobWanted& file) = 0;
  // Called often, on the thread of the fetch. Complete files have been put into the store by then.
  // An error ends the fetch.
  virtual Result<News> poll() = 0;
};

// Fetches the files `wanted` of the tree `root`, whose directories are all in `into`: from peers,
// and this node's share from `origin`. Files that neither has are left out without an error.
// `lock`: the tree with the lock that names all the files; every node that this lock is assigned to
// may fetch them.
Status fetch_files(io::ClientSocket launcher, const Digest& root, const Digest& lock,
                   const std::set<Digest>& wanted, snapshot::BlobStore& into, const SwarmSite& site,
                   Origin& origin, const OnProgress& progress = {});

}  // namespace lockstep::transfer
