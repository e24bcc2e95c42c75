#pragma once
// Implements the fetch of one tree; see swarm.h. Used by one thread, with its own event loop.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/io/event_loop.h"
#include "common/io/net/transport.h"
#include "common/io/process.h"
#include "common/transfer/fetch_plan.h"
#include "common/transfer/swarm.h"
#include "common/transfer/tree_units.h"

namespace lockstep::transfer {

class Swarm {
 public:
  Swarm(io::ClientSocket launcher, const Digest& root, snapshot::BlobStore& into,
        const SwarmSite& site, const OnProgress& progress, const TransferOptions& options,
        Origin* origin = nullptr, std::optional<Digest> lock = {});
  ~Swarm();
  Swarm(const Swarm&) = delete;
  Swarm& operator=(const Swarm&) = delete;

  // `wanted`: fetch only these blobs; nullptr = all.
  Status run(std::vector<TreeUnit> units, const std::set<Digest>* wanted = nullptr);

 private:
  // A request in flight, or one that waits to be sent.
  struct Request {
    NodeId to;
    BulkMessage body;
    std::optional<std::size_t> unit;  // the unit whose blobs it requests
    std::uint64_t offset = 0;         // the offset of the requested part of a large blob
    bool is_sent = false;
    Instant send_at;
  };
  struct Source {
    std::unique_ptr<io::ClientSocket> socket;
    std::string uploader;  // keeps its incomplete blobs apart from other sources' blobs
  };

  Status loop();
  void add(NodeId id, std::unique_ptr<io::ClientSocket> socket, std::string uploader);
  void dial_new_peers();
  void request(NodeId to, BulkMessage body, std::optional<std::size_t> unit = {},
               std::uint64_t offset = 0);
  void ask(const FetchPlan::Ask& ask);
  void ask_part(NodeId from, std::size_t unit, std::uint64_t offset);
  void find_peers();
  void send_what_waits();
  void repeat_all();
  Status receive();
  Status receive_from(NodeId id);
  Status take(NodeId from, std::uint64_t sequence, BulkMessage& answer);
  Status take_data(NodeId from, std::uint64_t sequence, BlobData& data);
  Status put(NodeId from, const TreeUnit& unit, const BlobPiece& piece);
  Status end_of(NodeId from, std::uint64_t sequence);
  Status refused(NodeId from, std::uint64_t sequence, const BulkRefused& refusal);
  Status check_launcher(Instant now);
  void ask_origin(std::size_t unit);
  Status hear_origin(Instant now);
  // Whether no source will bring the rest.
  bool is_over(Instant now) const;
  bool is_here(const TreeUnit& unit) const;
  void came(NodeId from, std::uint64_t bytes, Instant now);
  void finish(std::size_t unit);
  void drop_silent(Instant now);
  void forget_dropped();
  void drop(NodeId peer, const std::string& fault, bool gave_wrong_data);
  void report(bool whole);
  void tell();

  io::EventLoop loop_;
  const Digest root_;
  snapshot::BlobStore& into_;
  const SwarmSite& site_;
  const OnProgress& on_progress_;
  const TransferOptions options_;
  const std::optional<Digest> lock_;       // for packages: the tree with the lock that names them
  Origin* const origin_;                   // replaces the launcher as a source; nullptr = none
  std::set<std::size_t> asked_of_origin_;  // units
  bool is_origin_gone_ = false;
  std::vector<TreeUnit> units_;
  std::unique_ptr<FetchPlan> plan_;
  std::map<NodeId, Source> sources_;
  std::map<std::uint64_t, Request> requests_;
  std::uint64_t next_sequence_ = io::random_u64() >> 1;
  std::uint64_t finding_ = 0;  // the sequence of the open FindPeers
  bool is_told_ = false;       // whether a FindPeersReply has come
  bool is_gathering_ = false;  // waits until the others of the gang are known
  Instant find_at_;
  Instant launcher_heard_;  // last time that it sent data or owed none
  bool was_down_ = false;
  Progress progress_;
};

}  // namespace lockstep::transfer
