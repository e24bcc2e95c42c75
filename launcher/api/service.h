#pragma once
// The only entrance for requests: a caller, a typed request and its connection go in; replies and
// updates come out. It decides whether the caller may ask (core/authority.h), whether there is
// space, and whether a submission's trees are complete; it answers questions and notifies watchers.
// It knows no socket: ZeroMQ is one adapter (daemon/launcher_server).
//
// It fails closed: each kind of request names its permission in claim_of(); one that does not fails
// to compile.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/domain/client_messages.h"
#include "launcher/api/asker.h"
#include "launcher/api/job_file_check.h"
#include "launcher/api/outcome.h"
#include "launcher/api/queries.h"
#include "launcher/api/watchers.h"
#include "launcher/core/action.h"

namespace lockstep::launcher {

using SecretRequest = std::variant<SetSecret, RemoveSecret, ListSecrets>;

// What a request wants, and of whose.
struct Claim {
  Permission permission;
  Object object;
  std::string absent;  // the object is not there: "there is no job 'x'; …"
};
Claim claim_of(const ClientRequest& request, const State& state, const Caller& caller);

class Service {
 public:
  // What it needs of the daemon.
  struct Ports {
    const Core* core = nullptr;
    std::function<void(const Input&)> feed;
    std::function<Instant()> now;
    std::function<std::uint64_t()> random;
    // Whether the blob store has this whole tree, and the caller may use all of it. Answers later,
    // on the loop.
    std::function<void(const Caller& caller, const Digest& root,
                       std::function<void(Result<bool> whole)>)>
        check_snapshot;
    // How large it is; asked where a quota says how large it may be.
    std::function<void(const Digest& root, std::function<void(Result<Bytes> size)>)>
        measure_snapshot;
    std::function<std::string()> low_space;  // why no new work is taken; "": it is
    std::function<LauncherInfo()> info;
    std::function<BlobTraffic(NodeId)> traffic;
    // The answer to ShowEnvironment, the operator's map included.
    std::function<ClientReply(const std::string& reference)> show_environment;
    // Of this owner.
    std::function<Result<ClientReply>(const std::string& owner, const SecretRequest&)> secrets;
    // An error: names the first that they lack.
    std::function<Status(const std::string& owner, const std::set<std::string>& names)>
        expect_secrets;
    struct NewToken {
      Digest secret_hash;
      TokenReply reply;
    };
    std::function<NewToken(const CreateToken&)> make_token;
    // job_file_check.h's, away from the loop; answered later, on it. An error: not now.
    std::function<Status(const std::string& user, CheckJobFile,
                         std::function<void(Result<spec::JobFile>)>)>
        parse_job_file;
    std::function<void(const std::string& connection, std::uint64_t reply_to, ClientReply)> send;
    std::function<bool(const std::string& connection)> is_gone;  // as far as is known
    // The audit log. It is told of each answer before send(); the answers come later, on the loop.
    struct Audit {
      std::function<void(const Asker&, const ClientReply&)> on_outcome;
      std::function<std::string()> is_stuck;  // why nothing may change now; "": it may
      std::function<void(const QueryAudit&, std::function<void(ClientReply)>)> query;
      std::function<void(const VerifyAudit&, std::function<void(ClientReply)>)> verify;
    };
    std::optional<Audit> audit = {};
  };
  explicit Service(Ports ports);

  void handle(Asker asker, ClientRequest request);
  // Those of the core's actions that are answers or changes for people; false: another's.
  void perform(const ReplySubmitted& action);
  void perform(const ReplyDone& action);
  void perform(const ReplyRefused& action);
  void perform(const ReplyDeleted& action);
  void perform(const ReplyEnvironment& action);
  void perform(const ReplyCompute& action);
  void perform(const ExitDaemon& action);
  void perform(const JobChanged& action) { changed_jobs_.insert(action.job); }
  // Ends all watches of this key.
  void perform(const RevokeUser& action);
  // After the last of a turn's actions: tells watchers of changed jobs as they are now, and those
  // whose round has come that they still watch.
  void flush();
  // Until the next round; Duration::max(): nobody watches.
  Duration wait() const;
  void gone(const std::string& connection);

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
  void tell_next_rounds();
  void submit(const Asker& asker, Submit submit);
  void submit_whole(const Asker& asker, const Submit& submit);
  void create_environment(const Asker& asker, CreateEnvironment create);
  void check_file(const Asker& asker, CheckJobFile request);
  JobFileLookups lookups_of(const Caller& caller) const;
  void change_secrets(const Asker& asker, const SecretRequest& request);
  void check_trees(const Asker& asker, std::vector<Digest> roots,
                   std::function<void(Result<bool> whole)> then);
  const State& state() const { return ports_.core->state(); }

  const Ports ports_;
  std::map<std::uint64_t, Pending> pending_;
  std::uint64_t last_pending_ = 0;
  Watchers watchers_{Watchers::Limits{}};
  std::set<JobId> changed_jobs_;
  Instant next_round_;  // of watchers
};

}  // namespace lockstep::launcher
