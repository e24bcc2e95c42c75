#pragma once
// Decides which unit of a tree a node requests from which source: from peers that have it, else
// from the launcher. It drops peers that are silent or wrong, and divides requests to the launcher
// among the nodes of the core (docs/decisions/016-peers.md). Pure: no socket and no clock; it is
// told what happened.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/bulk.h"

namespace lockstep::transfer {

inline const NodeId kLauncher{0};  // as a source

struct FetchLimits {
  std::size_t open = 16;  // units asked for and not here yet, of all sources
  std::size_t open_at_launcher = 4;
  std::size_t open_at_peer = 2;
  int strikes = 3;                            // units that a peer said it has and has not
  Duration timeout = seconds(2);              // with a silent peer; and without any progress
  Duration ask_every = milliseconds(150);     // which units a peer has
  Duration busy_at_least = milliseconds(50);  // after a refusal for now
};

class FetchPlan {
 public:
  using Limits = FetchLimits;
  struct Ask {
    NodeId from;
    std::size_t unit = 0;
    friend bool operator==(const Ask&, const Ask&) = default;
  };
  struct Peer {
    BlobPeer who;
    std::vector<bool> have;
    bool whole = false;
    bool fetching = false;
    std::uint64_t done_bytes = 0;  // its own progress, as it says
    std::uint64_t given_bytes = 0;
    std::string fault;  // not empty: dropped
    bool lied = false;
    int strikes = 0;
    bool is_asked = false;  // which units it has; unanswered
    Instant ask_at;
  };

  FetchPlan(std::vector<bool> here, Instant now, Limits limits = {});

  // ---- what happened
  void told(const FindPeersReply& reply, Instant now);
  void heard(NodeId peer, const UnitsReply& reply, Instant now);
  void arrived(NodeId from, std::uint64_t bytes, Instant now);
  void finished(std::size_t unit, Instant now);  // whole and verified
  void busy(NodeId from, std::size_t unit, Instant now);
  void lacking(NodeId from, std::size_t unit, Instant now);
  // The peer gives nothing more; its open units are requested elsewhere. Idempotent.
  void drop(NodeId peer, std::string fault, bool lied);
  // It is asked for nothing more.
  void close_launcher(Instant now);
  // This node was stopped for a while: that time does not count as silence of its peers.
  void woke(Instant now);

  // ---- what to do
  // Peers to ask which units they have: asked from then on.
  std::vector<NodeId> questions(Instant now);
  // The next requests. Each is open until finished, busy, lacking or dropped.
  std::vector<Ask> next(Instant now);
  // Peers that owe an answer and have been silent for too long: to be dropped.
  std::vector<NodeId> silent(Instant now) const;

  bool done() const { return lacking_ == 0; }
  const std::map<NodeId, Peer>& peers() const { return peers_; }
  std::uint64_t from_launcher_bytes() const { return from_launcher_; }
  bool is_hope() const;                       // some peer has units, or will have them
  Instant got_on() const { return got_on_; }  // this node, or one of its peers
  int givers() const;                         // peers that gave something and were not dropped

 private:
  enum class Unit : std::uint8_t { lacking, open, here };
  struct Source {
    std::set<std::size_t> open;
    Instant heard;  // or when it began to owe something
    Instant busy_until;
  };
  Source& source(NodeId id) { return sources_[id]; }
  void give_back(Source& from, std::size_t unit);
  bool is_ready(NodeId id, std::size_t most, Instant now) const;
  NodeId peer_with(std::size_t unit, Instant now) const;  // kLauncher: none is ready
  bool is_for_launcher(std::size_t unit, bool any_hope) const;
  NodeId home_of(std::size_t unit) const;
  void open(NodeId from, std::size_t unit, Instant now);
  void progressed(Instant now) { progress_ = got_on_ = now; }

  Limits limits_;
  std::vector<Unit> units_;
  std::size_t lacking_ = 0;  // not here
  std::size_t open_ = 0;
  NodeId self_;
  bool core_ = false;
  std::map<NodeId, Peer> peers_;
  std::map<NodeId, Source> sources_;
  std::uint64_t from_launcher_ = 0;
  Instant got_on_;         // when this node or one of its peers last did
  Instant progress_;       // the same, or when something was asked for because nobody did
  std::size_t spare_ = 0;  // units at a time that are asked of the launcher though others have them
                           // to bring: one more after each time without progress
};

}  // namespace lockstep::transfer
