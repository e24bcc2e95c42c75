#pragma once
// Actions that the shell performs once the facts of the step are durable. They are idempotent:
// performing one twice, or again after a restart (Core::resume), changes nothing.

#include <string>
#include <variant>
#include <vector>

#include "launcher/core/base/input.h"

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
  Why why;
  bool removed = false;
};
struct AskForSession {
  PublicKey key;
  SessionId session;
  std::uint64_t question = 0;
};  // send SessionLost: the node must open its session again
struct AckObserved {
  NodeId node;
  SessionId session;
  std::uint64_t sequence = 0;
};
struct AckHeartbeat {
  NodeId node;
  SessionId session;
  std::uint64_t number = 0;    // of the heartbeat
  std::uint64_t revision = 0;  // of the node's desired state when the heartbeat arrived
  Instant time = {};
};
// Send JobUpdate to all watchers of the job, and tell its log followers when it is final.
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
};  // the key may connect only to be told that its node was removed
// Accept connections with this user's key from now on.
struct AllowUser {
  PublicKey key;
  std::string user;
  bool from_file = false;  // only while keys/authorized_users has it
};
// Exchange no more messages with this key, and end its follows and uploads.
struct RevokeUser {
  PublicKey key;
};
// The user has fewer rights: check again everything that their keys follow.
struct UserChanged {
  std::string user;
};
// Some users lost the right to read the job. For each client that follows its updates or logs,
// check the right again, and end the stream if it is gone.
struct ReadersChanged {
  JobId job;
};
// The node reported on an object that does not belong to it, and the report was ignored. For the
// audit log.
struct ReportRefused {
  NodeId node;
  std::string object;  // "job train"
  Why why;
};
struct ReplySubmitted {
  ReplyTo to;
  JobId job;
  std::vector<Why> notes = {};  // for the person who submitted it
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
// The job is deleted: the logs of these attempts are no longer needed, and some blobs may be
// unused.
struct ForgetJob {
  JobId job;
  std::vector<AttemptId> attempts;
  Why why;  // who deleted it, or which retention limit it exceeded
  // Nobody asked for it, so no request's entry is in the audit log. Of a pipeline, not of its
  // steps.
  bool is_by_limit = false;
  std::string project = {};  // the job's
};
// A node reported newer versions of outputs or of a checkpoint. What of these is in no newer
// version and of no use to anybody else may be removed soon.
struct TreesReplaced {
  AttemptId attempt;
  std::vector<Digest> trees;
  Bytes size;  // at most so much
};
struct ReplyEnvironment {  // the environment is registered, by this request or before
  ReplyTo to;
  std::string name, version;
};
struct ReplyAsset {  // the version is registered, by this request or before
  ReplyTo to;
  AssetKind kind = AssetKind::data;
  std::string name, version;
};
struct ReplyCompute {  // the target exists, created by this request or before
  ReplyTo to;
  std::string name;
};
struct ReplySizes {  // these sizes are as the request said
  ReplyTo to;
  std::vector<std::string> names;
};
// Prepare a call of the target's provider for these machines. For `create`, make a secret for each
// machine and send ProviderTokensInput; start when StartProvider comes. Start `remove` at once.
// Results come as ProviderEventInput and one ProviderEndedInput.
struct CallProvider {
  std::uint64_t call = 0;  // unique in this launcher process
  std::string target;
  ProviderVerb verb = ProviderVerb::create;
  std::vector<std::string> machines;
};
struct StartProvider {
  std::uint64_t call = 0;
};
// Keep the provider's `hold` running for exactly these machines; none: end it.
struct HoldMachines {
  std::string target;
  std::vector<std::string> machines;
};
// Nobody wants the machines of this `create` any more: end it.
struct StopProvider {
  std::uint64_t call = 0;
};
// Ask the target's provider whether it could make machines with this spec, which is not in State
// yet. Answered by ProviderCheckedInput.
struct CheckProvider {
  std::uint64_t check = 0;  // unique in this launcher process
  ComputeSpec spec;
};
// The target is deleted: remove what its provider kept.
struct ForgetCompute {
  std::string target;
};
// Merge the trees that the nodes of the job's last attempt have sent for its named outputs.
// Answered by OutputsMergedInput.
struct MergeOutputs {
  JobId job;
  struct Output {
    std::string name;
    OutputType type = OutputType::uri_folder;
    std::vector<NodeTree> trees;
    // Of kArtifacts, whose `trees` are those of ./outputs: the trees of ./logs. The result has both
    // folders.
    std::vector<NodeTree> logs = {};
    bool is_registered = false;  // its size is asked for
  };
  std::vector<Output> outputs;
};
// Write a merged output to the remote of a datastore. Answered by OutputWrittenInput.
struct WriteOutput {
  JobId job;
  std::uint64_t order = 0;  // of the job
  std::string output;
  std::string datastore;  // its name
  std::string to;         // "azureml://datastores/…"
  Digest tree;
  std::string file;           // name of the one file in `tree`; "": it is a folder
  std::string user, project;  // who must be allowed to use the datastore
};
struct ExitDaemon {
  ReplyTo to;
};  // shutdown was granted: reply Done, then leave the event loop

using Action = std::variant<SendDesired, AcceptSession, RefuseSession, AskForSession, AckObserved,
                            AckHeartbeat, JobChanged, AwaitLogs, AllowNode, RevokeNode,
                            ReplySubmitted, ReplyJoined, ReplyDone, ReplyRefused, ReplyDeleted,
                            ForgetJob, ReplyEnvironment, ExitDaemon, AllowUser, RevokeUser,
                            UserChanged, ReportRefused, ReadersChanged, ReplyCompute, CallProvider,
                            StartProvider, HoldMachines, ReplySizes, StopProvider, CheckProvider,
                            ForgetCompute, ReplyAsset, MergeOutputs, WriteOutput, TreesReplaced>;

}  // namespace lockstep::launcher
