#pragma once
// What the shell does once the facts of the step are durable. Idempotent: repeating an action, also
// after a restart (Core::resume), changes nothing.

#include <string>
#include <variant>
#include <vector>

#include "launcher/core/input.h"

namespace lockstep::launcher {

// Send the node its current desired state (Core::desired_for at the time of sending).
struct SendDesired {
  NodeId node;
};
struct AcceptSession {
  NodeId node;
  SessionId session;
  PublicKey key;
};
struct RefuseSession {
  PublicKey key;
  SessionId session;
  std::string reason;
  bool removed = false;
};
struct AskForSession {
  PublicKey key;
  SessionId session;
  std::uint64_t question = 0;
};  // SessionLost: it must open again
struct AckObserved {
  NodeId node;
  SessionId session;
  std::uint64_t sequence = 0;
};
struct AckHeartbeat {
  NodeId node;
  SessionId session;
  std::uint64_t number = 0;    // of the heartbeat
  std::uint64_t revision = 0;  // of the node's desired state when it was heard
};
// Tell everyone who watches the job (JobUpdate), and the log followers when it is final.
struct JobChanged {
  JobId job;
};
// Start expecting these log sizes; answer with LogsDurableInput when they are on disk.
struct AwaitLogs {
  AttemptId attempt;
  NodeId node;
  std::vector<LogSize> sizes;
};
struct AllowNode {
  NodeId node;
  PublicKey key;
};  // the ZAP handler lets this key in from now on
struct RevokeNode {
  PublicKey key;
};  // from now on it is let in only to be told that its node was removed
// A user's key: let in from now on.
struct AllowUser {
  PublicKey key;
  std::string user;
  bool from_file = false;  // only while keys/authorized_users has it
};
// A user's key was revoked: nothing is accepted from it or sent to it, and its follows and uploads
// end.
struct RevokeUser {
  PublicKey key;
};
// The user has fewer rights: whether their keys may follow what they follow is checked again.
struct UserChanged {
  std::string user;
};
// Fewer users may read the job: whether its followers still may is checked again.
struct ReadersChanged {
  JobId job;
};
// The node reported on something that does not belong to it; the report is ignored and audited.
struct ReportRefused {
  NodeId node;
  std::string object;  // "job train"
  std::string why;
};
struct ReplySubmitted {
  ReplyTo to;
  JobId job;
};
struct ReplyJoined {
  ReplyTo to;
  NodeId node;
  std::string name;
};
struct ReplyDone {
  ReplyTo to;
  std::string message;
};
struct ReplyRefused {
  ReplyTo to;
  ErrorCode code = ErrorCode::internal;
  std::string message;
};
struct ReplyDeleted {
  ReplyTo to;
  JobsDeleted result;
};
// The job is deleted: the logs of these attempts can be removed, and its blobs may be unused.
struct ForgetJob {
  JobId job;
  std::vector<AttemptId> attempts;
  std::string why;  // for people: who deleted it, or which limit of what is kept it was beyond
};
struct ReplyEnvironment {  // it is registered, now or before
  ReplyTo to;
  std::string name, version;
};
struct ReplyCompute {  // it is there, now or before
  ReplyTo to;
  std::string name;
};
struct ExitDaemon {
  ReplyTo to;
};  // shutdown was granted: reply Done, then leave the loop

using Action = std::variant<SendDesired, AcceptSession, RefuseSession, AskForSession, AckObserved,
                            AckHeartbeat, JobChanged, AwaitLogs, AllowNode, RevokeNode,
                            ReplySubmitted, ReplyJoined, ReplyDone, ReplyRefused, ReplyDeleted,
                            ForgetJob, ReplyEnvironment, ExitDaemon, AllowUser, RevokeUser,
                            UserChanged, ReportRefused, ReadersChanged, ReplyCompute>;

}  // namespace lockstep::launcher
