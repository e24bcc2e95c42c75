#pragma once
// The only entry point for clients' requests. It takes a caller, a typed request and the connection
// it came over, and sends replies and updates. It checks the caller's permission
// (core/authority.h), the free space, and that a submission's trees are complete; it answers
// questions and notifies the watchers of jobs. It knows no socket: ZeroMQ is one adapter
// (daemon/launcher_server), and others can be added.
//
// It fails closed: claim_of() names a permission for each kind of request; a new kind does not
// compile without one.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/domain/client_messages.h"
#include "common/snapshot/subtree.h"
#include "launcher/api/asker.h"
#include "launcher/api/datastore_access.h"
#include "launcher/api/image_replacement.h"
#include "launcher/api/input_references.h"
#include "launcher/api/job_file_check.h"
#include "launcher/api/outcome.h"
#include "launcher/api/queries.h"
#include "launcher/api/usage_queries.h"
#include "launcher/api/watchers.h"
#include "launcher/core/action.h"

namespace lockstep::launcher {

using SecretRequest = std::variant<SetSecret, RemoveSecret, ListSecrets>;

// The permission that a request needs, and the object that it needs it for.
struct Claim {
  Permission permission;
  Object object;
  std::string absent;  // the error if there is no such object: "there is no job 'x'; …"
};
Claim claim_of(const ClientRequest& request, const State& state, const Caller& caller);

class Service {
 public:
  // The functions that the service needs from the daemon.
  struct Ports {
    const Core* core = nullptr;
    std::function<void(const Input&)> feed;
    // Runs what makes an answer from the state: now, or later on the loop (DurableCore::ask).
    std::function<void(std::function<void()>)> ask = [](const auto& answer) { answer(); };
    std::function<Instant()> now;
    std::function<std::uint64_t()> random;
    // Whether the blob store has the whole tree and all its blobs are the caller's. Answered later,
    // on the loop.
    std::function<void(const Caller& caller, const Digest& root,
                       std::function<void(Result<bool> whole)>)>
        check_snapshot;
    // What the tree takes (snapshot::stored_size), for quotas; answered later, on the loop.
    std::function<void(const Caller& caller, const Digest& root,
                       std::function<void(Result<Bytes> size)>)>
        measure_snapshot;
    // One tree of several, or a part of it; answered later, on the loop. The result is kept from
    // the collection of blobs for a while.
    std::function<void(const Caller& caller, const TreeQuestion&,
                       std::function<void(Result<snapshot::Subtree>)>)>
        find_tree;
    // Fills in how the files of these changes differ; answered later, on the loop.
    std::function<void(const Caller& caller, std::vector<PartChange>,
                       std::function<void(std::vector<PartChange>)>)>
        compare_trees;
    // The operator's datastores, as they are now.
    std::function<Result<Datastores>()> datastores = [] {
      return Result<Datastores>(Datastores());
    };
    // Fetches files of a remote into the blob store; answered later, on the loop. `tell` is called
    // on the loop about once a second while it is fetched. The result is kept from the collection
    // of blobs for a while.
    std::function<void(const Caller& caller, const RemoteFiles&,
                       std::function<void(const std::string&)> tell,
                       std::function<void(Result<snapshot::Subtree>)>)>
        fetch_remote;
    std::function<std::string()> low_space;  // why no new work is accepted; "" if it is
    std::function<LauncherInfo()> info;
    std::function<BlobTraffic(NodeId)> traffic;
    std::optional<UsagePorts> usage = {};
    // The answer to ShowEnvironment, the operator's map included.
    std::function<ClientReply(const std::string& reference, const Caller& caller)> show_environment;
    // The images among these that the operator's map has.
    FindMappedImages mapped_images = [](const std::set<std::string>&) {
      return Result<spec::MappedImages>(spec::MappedImages());
    };
    // Performs a request about this owner's secrets.
    std::function<Result<ClientReply>(const std::string& owner, const SecretRequest&)> secrets;
    // The error names the first of these secrets that the owner does not have.
    std::function<Status(const std::string& owner, const std::set<std::string>& names)>
        expect_secrets;
    struct NewToken {
      Digest secret_hash;
      TokenReply reply;
    };
    std::function<NewToken(const CreateToken&)> make_token;
    // The newest lines of the log of this target's provider; "": it has none.
    std::function<std::string(const std::string& target, std::int64_t lines)> compute_log;
    // parse() of job_file_check.h on another thread; answered later, on the loop. An error: too
    // many files wait; the callback is not called.
    std::function<Status(const Caller& caller, CheckJobFile,
                         std::function<void(spec::JobFileReading)>)>
        parse_job_file;
    std::function<void(const std::string& connection, std::uint64_t reply_to, ClientReply)> send;
    std::function<bool(const std::string& connection)> is_gone;  // as far as is known
    // The audit log. on_outcome is called before each answer's send(); queries are answered later,
    // on the loop.
    struct Audit {
      std::function<void(const Asker&, const ClientReply&)> on_outcome;
      std::function<std::string()> is_stuck;  // why no change is accepted now; "" if it is
      std::function<void(const QueryAudit&, std::function<void(ClientReply)>)> query;
      std::function<void(const VerifyAudit&, std::function<void(ClientReply)>)> verify;
    };
    std::optional<Audit> audit = {};
  };
  explicit Service(Ports ports);

  void handle(Asker asker, ClientRequest request);
  // The core's actions that answer a request or change what people see.
  void perform(const ReplySubmitted& action);
  void perform(const ReplyDone& action);
  void perform(const ReplyRefused& action);
  void perform(const ReplyDeleted& action);
  void perform(const ReplyEnvironment& action);
  void perform(const ReplyCompute& action);
  void perform(const ReplySizes& action);
  void perform(const ReplyAsset& action);
  void perform(const ExitDaemon& action);
  void perform(const JobChanged& action) { changed_jobs_.insert(action.job); }
  // Ends the watches of this key.
  void perform(const RevokeUser& action);
  // Called after the last of a turn's actions. Sends the present state of each changed job to its
  // watchers, and StillWatching to the groups that are due (watchers.h).
  void flush();
  // Time until the next group is due; Duration::max() if nobody watches.
  Duration wait() const;
  void gone(const std::string& connection);
  // Those whose requests the core has not answered yet.
  void each_pending(const std::function<void(Asker&)>& visit);

 private:
  friend struct RequestHandler;
  struct Pending {
    Asker asker;
    std::optional<TokenReply> token;  // the answer, when the core agrees
  };
  ReplyTo expect_reply(const Asker& asker, std::optional<TokenReply> token = {});
  void answer(const ReplyTo& to, ClientReply reply);
  void reply(const Asker& asker, ClientReply body);
  void refuse(const Asker& asker, ErrorCode code, std::string message);
  Status watch(const Asker& asker, const JobId& job);
  void tell_of_change(const JobId& id);
  Duration until_next_view(const JobId& id);
  void tell_next_rounds();
  void submit(const Asker& asker, Submit submit);
  void resolve_inputs(const Asker& asker, Submit submit, std::vector<NamedInput> inputs,
                      std::size_t index);
  Result<spec::Datastore> datastore_for(const Caller& caller, const std::string& project,
                                        const std::string& name) const;
  Status place_outputs(const Caller& caller, JobSpec& spec) const;
  void fetch_for(const Asker& asker, const RemoteFiles& files,
                 std::function<void(const Asker&, Result<snapshot::Subtree>)> then);
  void fetch_input(const Asker& asker, Submit submit, std::vector<NamedInput> inputs,
                   std::size_t index, const RemoteFiles& files);
  void fetch_asset(const Asker& asker, CreateAsset create, const DatastoreReference& reference);
  void submit_whole(const Asker& asker, const Submit& submit);
  void measure_sources(const Asker& asker, const Submit& submit, std::vector<Digest> trees,
                       std::vector<JobSource> measured);
  void create_environment(const Asker& asker, CreateEnvironment create);
  bool is_in_map(const EnvironmentSpec& spec) const;
  void create_asset(const Asker& asker, CreateAsset create);
  void create_from(const Asker& asker, CreateAsset create, const DataReference& reference);
  void register_asset(const Asker& asker, CreateAsset create);
  void register_environment(const Asker& asker, const CreateEnvironment& create);
  void explain(const Asker& asker, ExplainReply explained);
  void check_file(const Asker& asker, CheckJobFile request);
  JobFileLookups lookups_of(const Caller& caller) const;
  void change_secrets(const Asker& asker, const SecretRequest& request);
  void check_trees(const Asker& asker, std::vector<Digest> roots,
                   std::function<void(Result<bool> whole)> then);
  void check_code(const Asker& asker, std::vector<Digest> roots,
                  std::function<void(const Status& free)> then);
  const State& state() const { return ports_.core->state(); }

  const Ports ports_;
  std::map<std::string, std::size_t> comparing_;  // explanations that wait for that, by user
  std::map<std::uint64_t, Pending> pending_;
  std::uint64_t last_pending_ = 0;
  Watchers watchers_{Watchers::Limits{}};
  std::set<JobId> changed_jobs_;
  struct ToldView {
    Instant at;
    JobStatus status = JobStatus::queued;
  };
  std::map<JobId, ToldView> told_views_;  // of large jobs that are watched: what was told last
  Instant next_round_;                    // of watchers
};

}  // namespace lockstep::launcher
