#pragma once
// The only entry point for clients' requests. It takes a caller, a typed request and the connection
// it came over, and sends replies and updates. It checks the caller's permission
// (core/access/authority.h), the free space, and that a submission's trees are complete; it answers
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

#include "common/domain/messages/client_protocol.h"
#include "common/snapshot/subtree.h"
#include "launcher/api/asker.h"
#include "launcher/api/checks/datastore_access.h"
#include "launcher/api/checks/input_references.h"
#include "launcher/api/checks/job_file_check.h"
#include "launcher/api/checks/mapped_images.h"
#include "launcher/api/outcome.h"
#include "launcher/api/ports/audit_trail.h"
#include "launcher/api/ports/blobs.h"
#include "launcher/api/ports/clock_and_random.h"
#include "launcher/api/ports/launcher_process.h"
#include "launcher/api/ports/measurements.h"
#include "launcher/api/ports/operator_files.h"
#include "launcher/api/ports/replies.h"
#include "launcher/api/ports/run_metrics.h"
#include "launcher/api/ports/running_core.h"
#include "launcher/api/ports/secrets.h"
#include "launcher/api/watchers.h"
#include "launcher/core/base/action.h"

namespace lockstep::launcher {

// The permission that a request needs, and the object that it needs it for.
struct Claim {
  Permission permission;
  Object object;
  std::string absent;  // the error if there is no such object: "there is no job 'x'; …"
};
Claim claim_of(const ClientRequest& request, const State& state, const Caller& caller);

class Service {
 public:
  // What the service uses of the process that it is in. All must outlive it.
  struct Ports {
    RunningCore& core;
    ClockAndRandom& clock;
    Blobs& blobs;
    Secrets& secrets;
    const OperatorFiles& files;
    AuditTrail& audit;
    const Measurements& measurements;
    RunMetrics& metrics;
    LauncherProcess& launcher;
    Replies& replies;
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
  // Tells those whose requests the core has not answered yet that they wait for the disk. Their
  // requests are not late before `until`.
  void tell_pending(const WaitsForDisk& why, Instant until);

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
  Status check_submission(const Asker& asker, const Submit& submit);
  void resolve_inputs(const Asker& asker, Submit submit, std::vector<NamedInput> inputs,
                      std::size_t index);
  void refuse_input(const Asker& asker, const NamedInput& named, const Error& error);
  void find_input(const Asker& asker, Submit submit, std::vector<NamedInput> inputs,
                  std::size_t index, const TreeQuestion& question);
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
  // The answer to ShowEnvironment, the operator's map included.
  ClientReply environment_called(const std::string& reference, const Caller& caller) const;
  FindMappedImages images_in_map() const;
  void create_asset(const Asker& asker, CreateAsset create);
  void create_from(const Asker& asker, CreateAsset create, const DataReference& reference);
  void register_asset(const Asker& asker, CreateAsset create);
  void register_environment(const Asker& asker, const CreateEnvironment& create);
  void explain(const Asker& asker, ExplainReply explained);
  void check_file(const Asker& asker, CheckJobFile request);
  JobFileLookups lookups_of(const Caller& caller) const;
  void check_trees(const Asker& asker, std::vector<Digest> roots,
                   std::function<void(Result<bool> whole)> then);
  void check_code(const Asker& asker, std::vector<Digest> roots,
                  std::function<void(const Status& free)> then);
  const Core& core() const { return ports_.core.core(); }
  const State& state() const { return core().state(); }

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
