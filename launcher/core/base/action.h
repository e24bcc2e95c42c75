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
  std::uint64_t number = 0;  // the heartbeat's number
  // The revision of the node's desired state when the heartbeat arrived.
  std::uint64_t revision = 0;
  Instant time = {};
};
// Send JobUpdate to all watchers of the job, and tell its log followers when it is final.
struct JobChanged {
  JobId job;
};
// Start to wait for logs of these sizes. When they are on disk, LogsDurableInput answers.
struct AwaitLogs {
  AttemptId attempt;
  NodeId node;
  std::vector<LogSize> sizes;
};
struct AllowNode {
  NodeId node;
  PublicKey key;
};  // accept connections with this key from now on
struct RevokeNode {
  PublicKey key;
};  // a connection with this key is only told that its node was removed
// Accept connections with this user's key from now on.
struct AllowUser {
  PublicKey key;
  std::string user;
  bool from_file = false;  // the key counts only while keys/authorized_users has it
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
// The node reported on an object that does not belong to it. The report was ignored, and the audit
// log records it.
struct ReportRefused {
  NodeId node;
  std::string object;  // "job train"
  Why why;
};
struct ReplySubmitted {
  ReplyTo to;
  JobId job;
  std::vector<Why> notes = {};  // for the person who submitted the job
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
  Why why;  // the user who deleted it, or the retention limit that it exceeded
  // True: a limit caused the deletion, so no request's audit entry covers it. Set for a pipeline,
  // not for its steps.
  bool is_by_limit = false;
  std::string project = {};  // the job's project
};
// A node reported newer versions of outputs or of a checkpoint. The files of the older versions may
// be removed soon, unless something else uses them.
struct TreesReplaced {
  AttemptId attempt;
  std::vector<Digest> trees;
  Bytes size;  // the most bytes that can be freed
};
struct ReplyEnvironment {  // the environment is registered, by this request or an earlier one
  ReplyTo to;
  std::string name, version;
};
struct ReplyAsset {  // the version is registered, by this request or an earlier one
  ReplyTo to;
  AssetKind kind = AssetKind::data;
  std::string name, version;
};
struct ReplyCompute {  // the target exists, by this request or an earlier one
  ReplyTo to;
  std::string name;
};
struct ReplySizes {  // these sizes now are as the request says
  ReplyTo to;
  std::vector<std::string> names;
};
// Prepare a call of the target's provider for these machines. For `create`, make a secret for each
// machine, answer with ProviderTokensInput, and start the call when StartProvider comes. Start
// `remove` and `list` at once. The call's results arrive as ProviderEventInput, and its end as one
// ProviderEndedInput.
struct CallProvider {
  std::uint64_t call = 0;  // unique in this launcher process
  std::string target;
  ProviderVerb verb = ProviderVerb::create;
  std::vector<std::string> machines;
};
struct StartProvider {
  std::uint64_t call = 0;
};
// Keep the provider's `hold` running for exactly these machines. If there are none, end it.
struct HoldMachines {
  std::string target;
  std::vector<std::string> machines;
};
// End this `create` call: none of its machines is wanted any more.
struct StopProvider {
  std::uint64_t call = 0;
};
// Ask the target's provider whether it could make machines with this spec, which State does not
// have yet. ProviderCheckedInput answers.
struct CheckProvider {
  std::uint64_t check = 0;  // unique in this launcher process
  ComputeSpec spec;
};
// The target is deleted: remove the files that its provider kept.
struct ForgetCompute {
  std::string target;
};
// Merge the trees that the nodes of the job's last attempt sent for its named outputs.
// OutputsMergedInput answers.
struct MergeOutputs {
  JobId job;
  struct Output {
    std::string name;
    OutputType type = OutputType::uri_folder;
    std::vector<NodeTree> trees;
    // For kArtifacts alone, where `trees` are the trees of ./outputs: the trees of ./logs. The
    // result contains both folders.
    std::vector<NodeTree> logs = {};
    bool is_registered = false;  // the answer must include its size
  };
  std::vector<Output> outputs;
};
// Write a merged output to the remote of a datastore. OutputWrittenInput answers.
struct WriteOutput {
  JobId job;
  std::uint64_t order = 0;  // the job's order
  std::string output;
  std::string datastore;  // the datastore's name
  std::string to;         // "azureml://datastores/…"
  Digest tree;
  std::string file;           // the name of the only file in `tree`; "": the output is a folder
  std::string user, project;  // both must be allowed to use the datastore
};
struct ExitDaemon {
  ReplyTo to;
};  // the shutdown was granted: reply Done, then leave the event loop

using Action = std::variant<SendDesired, AcceptSession, RefuseSession, AskForSession, AckObserved,
                            AckHeartbeat, JobChanged, AwaitLogs, AllowNode, RevokeNode,
                            ReplySubmitted, ReplyJoined, ReplyDone, ReplyRefused, ReplyDeleted,
                            ForgetJob, ReplyEnvironment, ExitDaemon, AllowUser, RevokeUser,
                            UserChanged, ReportRefused, ReadersChanged, ReplyCompute, CallProvider,
                            StartProvider, HoldMachines, ReplySizes, StopProvider, CheckProvider,
                            ForgetCompute, ReplyAsset, MergeOutputs, WriteOutput, TreesReplaced>;

}  // namespace lockstep::launcher
