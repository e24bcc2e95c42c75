#pragma once
// All inputs of the launcher's core. The shell makes them from messages, timers and workers. The
// core never sees a socket, a clock or a random source: names, ids, hashes and keys arrive in its
// inputs. Every request of a user carries its caller; a request without a caller is refused.

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/result.h"
#include "common/domain/messages/agent_protocol.h"
#include "common/domain/messages/client_protocol.h"
#include "launcher/core/base/caller.h"
#include "launcher/core/base/keys_file.h"
#include "launcher/state/people/usage.h"
#include "launcher/state/targets/provider_event.h"

namespace lockstep::launcher {

// Where a reply goes. Opaque to the core; meaningless after a restart.
struct ReplyTo {
  std::uint64_t client = 0;   // the shell's handle of a connection; 0 = no reply is wanted
  std::uint64_t request = 0;  // Envelope::sequence
};

struct SubmitInput {
  ReplyTo reply;
  std::string submission;      // client's idempotence key
  JobSpec spec;                // submitter and account are the caller's
  std::string generated_name;  // used when spec.name is empty
  bool rebuild = false;        // solve and build its environment again
  Caller caller = {};
  Bytes snapshot_size = {};
  bool waits = false;                   // the client waits for the job's end
  bool wait_anyway = false;             // see Submit
  std::vector<JobSource> sources = {};  // that stay on the launcher for this job
};
struct CreateEnvironmentInput {
  ReplyTo reply;
  RegisteredEnvironment environment;  // if its version is empty: the next free number is used
  std::string project = {};           // see CreateEnvironment
  Caller caller = {};
  Bytes files = {};  // of its build folder
};
struct CreateAssetInput {
  ReplyTo reply;
  RegisteredAsset asset;     // with its tree; if its version is empty: see CreateAsset
  std::string project = {};  // see CreateAsset
  Caller caller = {};
  Bytes files = {};  // of its tree
};
struct ArchiveAssetInput {
  ReplyTo reply;
  ArchiveAsset ask;
  Caller caller = {};
};
struct ArchiveEnvironmentInput {
  ReplyTo reply;
  ArchiveEnvironment ask;
  Caller caller = {};
};
struct AnnotateVersionInput {
  ReplyTo reply;
  AnnotateVersion ask;
  Caller caller = {};
};
struct ShareNameInput {
  ReplyTo reply;
  ShareName ask;
  Caller caller = {};
};
struct DeleteVersionsInput {
  ReplyTo reply;
  DeleteVersions ask;
  Caller caller = {};
};
struct PruneEnvironmentsInput {
  ReplyTo reply;
  Duration unused_for{0};
  Caller caller = {};
};
struct CancelInput {
  ReplyTo reply;
  JobId job;
  Caller caller = {};
};
struct ShareInput {
  ReplyTo reply;
  JobId job;
  bool shared = true;
  Caller caller = {};
};
struct UpdateJobInput {
  ReplyTo reply;
  JobId job;
  Priority priority = Priority::medium;
  Caller caller = {};
};
struct ArchiveJobInput {
  ReplyTo reply;
  ArchiveJob ask;
  Caller caller = {};
};
struct AnnotateJobInput {
  ReplyTo reply;
  AnnotateJob ask;
  Caller caller = {};
};
struct DeleteInput {
  ReplyTo reply;
  std::vector<JobId> jobs;
  bool all_final = false;
  Duration older_than{0};
  Caller caller = {};
  bool all_users = false;
};
struct DrainInput {
  ReplyTo reply;
  std::string name_or_id;
  bool drain = true;
  std::string reason;
  Caller caller = {};
};
struct LabelInput {
  ReplyTo reply;
  LabelNode ask;
  Caller caller = {};
};
struct SizeInput {
  using Ask = std::variant<DefineSizes, RemoveSize, GrantSize>;
  ReplyTo reply;
  Ask ask;
  Caller caller = {};
};
struct ApproveNodeInput {
  ReplyTo reply;
  std::string name_or_id;
  Caller caller = {};
};
struct RemoveNodeInput {
  ReplyTo reply;
  std::string name_or_id;
  Caller caller = {};
  bool now = false;  // give up all its parts at once, because its key may be stolen
};
struct TokenInput {  // the shell makes the secret; the core keeps only its hash
  ReplyTo reply;
  Digest secret_hash;
  Instant expires;
  int uses = 1;
  Caller caller = {};
  Approval approval = Approval::as_configured;
  std::string compute = {};  // target of the nodes that join with it; "": local
};
struct RevokeTokenInput {
  ReplyTo reply;
  std::string id;
  Caller caller = {};
};
struct ComputeInput {
  using Ask = std::variant<CreateCompute, UpdateCompute, DeleteCompute, AttachHosts, DetachHosts>;
  ReplyTo reply;
  Ask ask;
  Caller caller = {};
};
struct InstanceInput {
  using Ask = std::variant<StartCompute, StopCompute, RestartCompute>;
  ReplyTo reply;
  Ask ask;
  Caller caller = {};
};
struct JoinInput {
  ReplyTo reply;
  Digest secret_hash;
  PublicKey key;  // of the joining node
  std::string name;
  MachinePart machine = {};
};
struct ShutdownInput {
  ReplyTo reply;
  bool cancel_jobs = false;
  Caller caller = {};
};
// Users, keys, roles, projects.
struct PrincipalInput {
  using Ask = std::variant<AddUser, RemoveUser, SetAccount, ChangeRole, AddKey, RevokeKey,
                           CreateProject, RemoveProject, SetQuota>;
  ReplyTo reply;
  Ask ask;
  Caller caller = {};
};
// keys/authorized_users was read, at the start or because it changed.
struct KeysFileInput {
  KeysFile file;
};

struct SessionInput {
  PublicKey key;
  SessionOpen open;
};
struct HeartbeatInput {
  PublicKey key;
  Heartbeat beat;
};
// A message with a node's key that this launcher cannot decode.
struct UnreadInput {
  PublicKey key;
  std::string why;
};
struct ObservedInput {
  PublicKey key;
  Observed observed;
};

// All log bytes named by the part's NodeExitReport are durable (or were declared lost).
struct LogsDurableInput {
  AttemptId attempt;
  NodeId node;
};

// So many bytes of the part's logs are here; told now and then while they come in.
struct LogsGrewInput {
  AttemptId attempt;
  NodeId node;
  std::uint64_t bytes = 0;
};

// The part's node sent files that a running attempt has so far, and the job's owner may have no
// more.
struct OutputsRefusedInput {
  AttemptId attempt;
  NodeId node;
  std::string why;  // for people
};

// The part's node sent logs for which the launcher has no space, or the job's owner has none left.
struct LogsRefusedInput {
  AttemptId attempt;
  NodeId node;
  std::uint64_t episode = 0;  // changes when logs were accepted since the last refusal
  std::uint64_t lacking =
      0;  // log bytes named by AwaitLogs that are not durable yet; 0: no AwaitLogs was sent
  std::string why = {};  // for people
};

// The shell made a secret for each machine of a CallProvider with verb `create`. Answered by
// StartProvider when the tokens are durable.
struct ProviderTokensInput {
  std::uint64_t call = 0;
  std::map<std::string, Digest> secret_hashes;  // by machine
  Instant expires;
};
struct ProviderEventInput {
  std::uint64_t call = 0;
  ProviderEvent event;
};
// The call is over. A machine about which it said neither `running`, `absent` nor `error` failed.
struct ProviderEndedInput {
  std::uint64_t call = 0;
  MachineFault fault = MachineFault::failed;  // of the machines that have no result
  Why why;
};

// The launcher listens at another address than in its last run, so agents may still dial the old
// one.
struct LauncherMovedInput {};

// A provider's `hold` has an event of kind notice about a machine of its target.
struct ProviderNoticeInput {
  std::string target;
  ProviderEvent event;
};
struct ProviderCheckedInput {
  std::uint64_t check = 0;
  std::string why_not;  // in the provider's words; "": it could make such machines
};

// By the outputs' names. An error says why the tree cannot be measured.
using OutputSizes = std::map<std::string, Result<Bytes>>;

// The answer to MergeOutputs.
struct OutputsMergedInput {
  JobId job;
  std::vector<MergedOutput> outputs;  // one for each that was asked for
  std::string why_not;                // it has to be tried again later; "": it is done
  OutputSizes sizes = {};             // of those to register that have files
};

// The answer to WriteOutput.
struct OutputWrittenInput {
  JobId job;
  std::uint64_t order = 0;
  std::string output;
  Why why_not;  // none: it is written
};

// The job's owner sends ranks of a running attempt a signal: it is on its way to their node.
struct RanksSignaledInput {
  AttemptId attempt;
  NodeId node;
  std::optional<int> rank = {};  // absent: all ranks of the node
  int number = 0;
  std::string by;  // a user's name
};

struct TickInput {};  // next_deadline() has passed, or no input came for a second

using Input = std::variant<
    SubmitInput, CancelInput, DeleteInput, DrainInput, RemoveNodeInput, TokenInput, JoinInput,
    ShutdownInput, SessionInput, HeartbeatInput, ObservedInput, LogsDurableInput, LogsRefusedInput,
    TickInput, CreateEnvironmentInput, PruneEnvironmentsInput, PrincipalInput, KeysFileInput,
    ApproveNodeInput, ShareInput, UnreadInput, ComputeInput, InstanceInput, ProviderTokensInput,
    ProviderEventInput, ProviderEndedInput, LabelInput, SizeInput, UpdateJobInput, ArchiveJobInput,
    AnnotateJobInput, ProviderCheckedInput, ProviderNoticeInput, CreateAssetInput,
    ArchiveAssetInput, OutputsMergedInput, OutputWrittenInput, ShareNameInput, DeleteVersionsInput,
    RevokeTokenInput, ArchiveEnvironmentInput, AnnotateVersionInput, LauncherMovedInput,
    LogsGrewInput, OutputsRefusedInput, RanksSignaledInput>;

}  // namespace lockstep::launcher
