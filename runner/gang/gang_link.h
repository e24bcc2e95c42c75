#pragma once
// Connects the runners of one gang in a k-ary tree by node rank, over ZeroMQ with CURVE and
// per-attempt keys; only keys of a node's children may connect to it. Messages between two
// neighbours arrive in order. It carries GangMessages without interpreting them, except
// GangHello/Ready/Start, which tell it that the whole tree is connected, and GangRows, which pass
// the gang's table down the tree to nodes that have only a share of it. These five are accepted
// only from neighbours, never from a node that relays them.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/runners/runner_protocol.h"
#include "common/io/event_loop.h"
#include "common/io/net/transport.h"

namespace lockstep::runner {

// The interval of beats to each neighbour.
inline constexpr Duration kGangBeat = milliseconds(1'000);
// after this silence a neighbour is reported lost
inline constexpr Duration kNeighbourSilence = milliseconds(5'000);
inline constexpr Duration kJoinTimeout = milliseconds(60'000);  // the time for its first frame
inline constexpr std::size_t kMaxLinkBacklog =
    65'536;  // unacknowledged messages; with more, the neighbour is lost
// the time for which the destructor waits
inline constexpr Duration kFlushTimeout = milliseconds(500);
inline constexpr Duration kSettleSilence =
    milliseconds(20'000);  // longer than the launcher takes to declare a node LOST

// Events are called on the loop; none of them may destroy the link.
class GangLink {
 public:
  struct Events {
    // called when every runner of the gang is reachable; table() is there
    std::function<void()> connected;
    std::function<void(int from_node_rank, GangMessage)> received;
    std::function<void(int node_rank)> neighbour_lost;  // silent for kNeighbourSilence, or refused
    // Called once, and `connected` never comes: the parent passed on another table than the
    // launcher's.
    std::function<void(const Why& why)> table_refused = {};
  };
  // Binds the ROUTER socket at once (port() goes into PartReport::runner_port).
  static Result<std::unique_ptr<GangLink>> create(io::EventLoop& loop, Events events);
  virtual ~GangLink() = default;
  virtual std::uint16_t port() const = 0;
  virtual const PublicKey& public_key() const = 0;
  // Dials the parent and waits for the children; `connected` follows. Without the whole table, it
  // takes the rest of it from the parent.
  virtual void connect(const AttemptId& attempt, int node_rank, SharedGang gang,
                       const std::optional<GangShare>& share) = 0;
  // The whole table, from `connected` on.
  virtual const SharedGang& table() const = 0;
  virtual void send_up(const GangMessage& message) = 0;    // does nothing at the root
  virtual void send_down(const GangMessage& message) = 0;  // sends to all children
  // Sends to one node, hop by hop along the tree.
  virtual void send_to(int node_rank, const GangMessage& message) = 0;
  virtual void broadcast(const GangMessage& message) = 0;  // sends to every other node of the gang
  // True when every neighbour has received all messages to it, has left, or was silent for
  // kSettleSilence.
  virtual bool settled() = 0;
  // The kGangKnows of the oldest runner of the gang; valid after `connected`. A runner drops a
  // neighbour that sends unknown messages, so newer ones must not be sent.
  virtual std::uint32_t knows() const = 0;
  virtual int radix() const = 0;   // the radix of the tree; valid once it connects
  virtual int parent() const = 0;  // -1 at the root
  virtual std::vector<int> children() const = 0;
};

}  // namespace lockstep::runner
