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

// The receiver of a reply. Opaque to the core; meaningless after a restart.
struct ReplyTo {
  std::uint64_t client = 0;   // the shell's handle of a connection; 0 = no reply is wanted
  std::uint64_t request = 0;  // Envelope::sequence
};

struct SubmitInput {
  ReplyTo reply;
  std::string submission;      // the client's idempotence key
  JobSpec spec;                // the core sets submitter and account from the caller
  std::string generated_name;  // used when spec.name is empty
  bool rebuild = false;        // solve and build the job's environment again
  Caller caller = {};
  Bytes snapshot_size = {};
  bool waits = false;                   // the client waits for the job's end
  bool wait_anyway = false;             // see Submit
  std::vector<JobSource> sources = {};  // files on the launcher that are kept for this job
};
struct CreateEnvironmentInput {
  ReplyTo reply;
  RegisteredEnvironment environment;  // with an empty version, the next free number is used
  std::string project = {};           // see CreateEnvironment
  Caller caller = {};
  Bytes files = {};  // the size of its build folder
};
struct CreateAssetInput {
  ReplyTo reply;
  RegisteredAsset asset;     // with its tree; for an empty version, see CreateAsset
  std::string project = {};  // see CreateAsset
  Caller caller = {};
  Bytes files = {};  // the size of its tree
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
struct TokenInput {  // the shell makes the secret; the core gets only its hash
  ReplyTo reply;
  Digest secret_hash;
  Instant expires;
  int uses = 1;
  Caller caller = {};
  Approval approval = Approval::as_configured;
  std::string compute = {};  // the target of the nodes that join with the token; "": local
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
  PublicKey key;  // the key of the joining node
  std::string name;
  MachinePart machine = {};
};
struct ShutdownInput {
  ReplyTo reply;
  bool cancel_jobs = false;
  Caller caller = {};
};
// A request about users, keys, roles or projects.
struct PrincipalInput {
  using Ask = std::variant<AddUser, RemoveUser, SetAccount, ChangeRole, AddKey, RevokeKey,
                           CreateProject, RemoveProject, SetQuota>;
  ReplyTo reply;
  Ask ask;
  Caller caller = {};
};
// Keys/authorized_users was read, because the launcher started or the file changed.
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
// A message that this launcher cannot decode, with the key of its node.
struct UnreadInput {
  PublicKey key;
  std::string why;
};
struct ObservedInput {
  PublicKey key;
  Observed observed;
};

// All log bytes that the part's NodeExitReport names are durable, or were declared lost.
struct LogsDurableInput {
  AttemptId attempt;
  NodeId node;
};

// The number of arrived bytes of the part's logs. Sent at intervals while they arrive.
struct LogsGrewInput {
  AttemptId attempt;
  NodeId node;
  std::uint64_t bytes = 0;
};

// The launcher refused files that a running part sent, because its job's owner has no space left.
struct OutputsRefusedInput {
  AttemptId attempt;
  NodeId node;
  std::string why;  // for people
};

// The launcher refused logs that the part's node sent: it has no space for them, or the job's owner
// has none left.
struct LogsRefusedInput {
  AttemptId attempt;
  NodeId node;
  std::uint64_t episode = 0;  // changes when logs are accepted again after a refusal
  std::uint64_t lacking =
      0;  // log bytes that AwaitLogs named and that are not durable yet; 0: no AwaitLogs was sent
  std::string why = {};  // for people
};

// The shell made a secret for each machine of a CallProvider with verb `create`. When the tokens
// are durable, StartProvider answers.
struct ProviderTokensInput {
  std::uint64_t call = 0;
  std::map<std::string, Digest> secret_hashes;  // by the name of the machine
  Instant expires;
};
struct ProviderEventInput {
  std::uint64_t call = 0;
  ProviderEvent event;
};
// The call has ended. A machine for which it reported neither `running`, `absent` nor `error` has
// failed.
struct ProviderEndedInput {
  std::uint64_t call = 0;
  MachineFault fault = MachineFault::failed;  // the fault of machines without a result
  Why why;
};

// The launcher listens at another address than in its last run, so agents may still dial the old
// address.
struct LauncherMovedInput {};

// The provider's `hold` reported a notice about a machine of its target.
struct ProviderNoticeInput {
  std::string target;
  ProviderEvent event;
};
struct ProviderCheckedInput {
  std::uint64_t check = 0;
  std::string why_not;  // the provider's text; "": it could make such machines
};

// Sizes by the names of outputs. An error says why the tree cannot be measured.
using OutputSizes = std::map<std::string, Result<Bytes>>;

// The answer to MergeOutputs.
struct OutputsMergedInput {
  JobId job;
  std::vector<MergedOutput> outputs;  // one per output that the action named
  std::string why_not;                // why merging has to be tried again later; "": it succeeded
  OutputSizes sizes = {};             // the sizes of outputs that are registered and have files
};

// The answer to WriteOutput.
struct OutputWrittenInput {
  JobId job;
  std::uint64_t order = 0;
  std::string output;
  Why why_not;  // none: the output is written
};

// The job's owner sent a signal to ranks of a running attempt, and it is on its way to their node.
struct RanksSignaledInput {
  AttemptId attempt;
  NodeId node;
  std::optional<int> rank = {};  // absent: all ranks of the node
  int number = 0;
  std::string by;  // the user's name
};

struct TickInput {};  // next_deadline() has passed, or no input arrived for a second

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
