#pragma once
// Plans from which source a node requests each unit of a tree: from peers that have it, and from
// the launcher only if no peer will have it. It drops peers that are silent or send wrong data. The
// core, a few nodes that fetch from the launcher, divides those units among its members
// (docs/decisions/016-peers.md). It has no socket and no clock: the caller reports all events.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/messages/bulk_protocol.h"

namespace lockstep::transfer {

inline const NodeId kLauncher{0};  // stands for the launcher as a source

struct FetchLimits {
  std::size_t open = 16;  // units requested and not received yet, from all sources
  std::size_t open_at_launcher = 4;
  std::size_t open_at_peer = 2;
  int strikes = 3;                            // how often a peer may lack a unit it announced
  Duration timeout = seconds(2);              // for a silent peer, and without any progress
  Duration ask_every = milliseconds(150);     // how often a peer is asked for its units
  Duration busy_at_least = milliseconds(50);  // pause after a temporary refusal
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
    std::uint64_t done_bytes = 0;  // its own progress, as it reports it
    std::uint64_t given_bytes = 0;
    std::string fault;  // why it was dropped; "": it was not
    bool gave_wrong_data = false;
    int strikes = 0;
    bool is_asked = false;  // the peer was asked for its units and has not answered yet
    Instant ask_at;
  };

  FetchPlan(std::vector<bool> here, Instant now, Limits limits = {});

  // ---- events
  void told(const FindPeersReply& reply, Instant now);
  void heard(NodeId peer, const UnitsReply& reply, Instant now);
  void arrived(NodeId from, std::uint64_t bytes, Instant now);
  void finished(std::size_t unit, Instant now);  // the unit is whole and verified
  void busy(NodeId from, std::size_t unit, Instant now);
  void lacking(NodeId from, std::size_t unit, Instant now);
  // Stops using the peer; its open units are requested elsewhere. Idempotent.
  void drop(NodeId peer, std::string fault, bool gave_wrong_data);
  // Tells that nothing more is requested from the launcher.
  void close_launcher(Instant now);
  // Tells that this node was suspended: silence of peers in that time does not count.
  void woke(Instant now);

  // ---- actions
  // Peers to ask for their units now. They count as asked from then on.
  std::vector<NodeId> questions(Instant now);
  // Units to request now. They are open until finished, busy, lacking or dropped is reported.
  std::vector<Ask> next(Instant now);
  // Peers that owe an answer and have been silent for too long. The caller should drop them.
  std::vector<NodeId> silent(Instant now) const;

  bool done() const { return lacking_ == 0; }
  const std::map<NodeId, Peer>& peers() const { return peers_; }
  std::uint64_t from_launcher_bytes() const { return from_launcher_; }
  bool has_sources() const;  // some peer has units, or will have them
  Instant last_progress() const { return last_progress_; }  // of this node and its peers
  int senders() const;  // number of peers that sent data and are not dropped

 private:
  enum class Unit : std::uint8_t { lacking, open, here };
  struct Source {
    std::set<std::size_t> open;
    Instant heard;  // when it last sent something, or began to owe an answer
    Instant busy_until;
  };
  Source& source(NodeId id) { return sources_[id]; }
  void give_back(Source& from, std::size_t unit);
  bool is_ready(NodeId id, std::size_t most, Instant now) const;
  NodeId peer_with(std::size_t unit, Instant now) const;  // kLauncher: no peer is ready
  bool is_for_launcher(std::size_t unit, bool any_sources) const;
  NodeId home_of(std::size_t unit) const;
  void open(NodeId from, std::size_t unit, Instant now);
  void progressed(Instant now) { progress_ = last_progress_ = now; }

  Limits limits_;
  std::vector<Unit> units_;
  std::size_t lacking_ = 0;  // units that are not here, open ones included
  std::size_t open_ = 0;
  NodeId self_;
  bool core_ = false;
  std::map<NodeId, Peer> peers_;
  std::map<NodeId, Source> sources_;
  std::uint64_t from_launcher_ = 0;
  Instant last_progress_;  // last progress of this node or one of its peers
  Instant progress_;       // as last_progress_, or when spare_ grew for lack of progress
  std::size_t spare_ = 0;  // how many units may be open at the launcher although others should
                           // bring them; one more after each timeout without progress
};

}  // namespace lockstep::transfer
