#pragma once
// The attachments that go through this launcher (docs/decisions/078-attach.md): who opened each,
// and the node of its rank. It passes frames between the client's connection and the agent's, and
// keeps no bytes: undeliverable frames are dropped, and the client opens the attachment again.
// After a restart these openings fill the table again. It owns no socket and reads no clock.

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "common/base/rate_limit.h"
#include "common/domain/messages/agent_protocol.h"
#include "common/domain/people/audit.h"
#include "common/domain/runners/attach_frames.h"
#include "launcher/core/access/authority.h"
#include "launcher/core/core.h"
#include "launcher/daemon/attach/route.h"
#include "launcher/daemon/work/sampled_log.h"

namespace lockstep::launcher {

inline constexpr std::size_t kMaxAttachmentsOfUser = 256;
inline constexpr std::size_t kMaxAttachments = 1'024;
// The most bytes that are sent to a node that does not answer; further frames are dropped. A client
// that keeps to its window and repeats it once sends less.
inline constexpr std::size_t kMaxUnansweredAttachBytes = 2 * kAttachWindow + (64u << 10);

class Attachments {
 public:
  struct Ports {
    std::function<const Core&()> core;
    std::function<std::optional<Caller>(const PublicKey&)> client_of;
    // Sends to the client or agent with this connection of the bulk socket; the frame may be
    // dropped.
    std::function<void(const std::string& peer, const AttachFrame&)> send;
    std::function<void(NodeId, AttachWanted)> tell_node;  // over its control connection
    std::function<void(AuditEntry)> record;
    std::function<void(RanksSignaledInput)> signaled;  // reports a signal, for the job's events
    std::function<std::string()> why_not_recorded;     // "": the audit log takes entries
    std::function<void(const std::string&)> warn;      // a line of the launcher's log
  };
  // The sender of a message, as its connection proves it.
  struct Sender {
    std::string peer;
    PublicKey key;
    std::string address;
  };
  explicit Attachments(Ports ports) : ports_(std::move(ports)) {}

  // A refusal is the answer to an opening alone. Other frames for what this sender has not opened
  // are dropped and counted, as are frames that only the other side sends.
  void from_client(const Sender& from, AttachFrame frame, Instant now);
  void from_node(NodeId node, const std::string& peer, AttachFrame frame, Instant now);
  // Ends attachments whose user lost the right or the key, whose job was deleted or whose node was
  // lost, and forgets those whose client was silent for kAttachSilence. Cheap enough for each half
  // second.
  void look_again(Instant now);

  std::size_t size() const { return open_.size(); }
  std::size_t size_of(const std::string& user) const;
  std::uint64_t dropped() const { return dropped_; }

 private:
  struct Open {
    std::string user;
    PublicKey key;
    std::string address;
    std::string client;  // the client's connection
    std::string agent;   // its node's connection; "": not known yet
    AttachTarget target;
    std::string verb, where, words;  // for the audit log: "shell job", "rank 3 on n1", "a shell"
    Instant opened, heard;           // `heard`: from the client
    std::size_t unanswered = 0;      // bytes sent to the node since it last said something
    bool has_begun = false;          // its node has opened it, so a repeated opening starts nothing
    bool has_ended = false;          // the end was passed on, and the client has not closed yet
  };
  using Table = std::map<AttachId, Open>;
  friend struct ClientFrames;
  friend struct NodeFrames;

  void open(const Sender& from, const AttachId& id, AttachOpen opening, Instant now);
  void open_again(Table::iterator known, const Sender& from, AttachOpen opening, Instant now);
  // nullopt: allowed.
  std::optional<NoAttachTarget> why_not(const std::string& user, Instant now);
  void pass_to_client(const Open& one, const AttachId& id, AttachBody body);
  void pass_to_node(Open& one, const AttachId& id, AttachBody body);
  void send_opening(const Open& one, const AttachId& id, AttachOpen opening);
  void refuse(const Sender& from, const AttachId& id, const AttachOpen& opening,
              NoAttachTarget why);
  // Tells both sides, and forgets it.
  Table::iterator end(Table::iterator one, const std::string& why, Instant now);
  std::string why_ended(const Open& one) const;
  Table::iterator forget(Table::iterator one);
  void record_opening(const Open& one, bool again);
  void tell_signal(const Open& one, const AttachOpen& opening);
  void record_end(const Open& one, const std::string& how, Instant now);
  AuditEntry entry_of(const Open& one) const;
  void drop() { ++dropped_; }
  void drop_foreign(const std::string& whose, Instant now);

  const Ports ports_;
  Table open_;
  std::map<std::string, std::size_t> of_user_;  // how many
  RateLimit<std::string> rate_{{512, 50}};      // new ones of a user; each is an audit entry
  // Openings of what is open. They share a node's control connection with its heartbeats.
  RateLimit<std::string> repairs_{{1'024, 200}};
  std::uint64_t dropped_ = 0;
  SampledLog foreign_;
};

}  // namespace lockstep::launcher
