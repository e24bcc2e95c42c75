#include "launcher/api/service.h"

#include <algorithm>

#include "common/domain/why/jobs/explain.h"
#include "launcher/api/queries/asset_queries.h"
#include "launcher/api/queries/compute_texts.h"
#include "launcher/api/queries/environment_queries.h"
#include "launcher/api/queries/viewer.h"
#include "launcher/core/explain/reuse.h"
#include "launcher/core/jobs/children.h"
#include "launcher/words/jobs/say_explain.h"
#include "launcher/words/why.h"

namespace lockstep::launcher {
namespace {

constexpr std::size_t kMaxPending = 100'000;
// Comparisons of trees that may run for one user's explanations.
constexpr std::size_t kMaxComparisons = 4;

}  // namespace

Service::Service(Ports ports) : ports_(ports) {}

// Answers with an explanation. Files that cannot be read now are left out, because the rest is an
// answer, too.
void Service::explain(const Asker& asker, ExplainReply explained) {
  const auto& rerun = explained.explain.rerun;
  const bool compares =
      rerun && std::any_of(rerun->changes.begin(), rerun->changes.end(),
                           [](const PartChange& change) { return change.was || change.is; });
  const std::string user = owner_of(asker.caller);
  if (!compares || comparing_[user] >= kMaxComparisons) return reply(asker, std::move(explained));
  ++comparing_[user];
  auto changes = rerun->changes;
  ports_.blobs.compare(asker.caller, std::move(changes),
                       [this, asker, user, explained = std::move(explained)](
                           std::vector<PartChange> compared) mutable {
                         if (--comparing_[user] == 0) comparing_.erase(user);
                         // Too late: its client asks again.
                         if (asker.deadline < ports_.clock.now()) return;
                         ExplainView& view = explained.explain;
                         view.rerun->changes = std::move(compared);
                         for (std::size_t i = 0; i < view.reasons.size(); ++i) {
                           if (!view.reasons[i].why.is<RunsAgain>()) continue;
                           view.reasons[i].why = why_again(*view.rerun);
                           view.lines[i] = words::text_of(view.reasons[i]);
                         }
                         reply(asker, std::move(explained));
                       });
}

void Service::check_file(const Asker& asker, CheckJobFile request) {
  const JobFileToCheck what{request.spec ? "" : request.name, request.wait_anyway,
                            request.faults_are_said};
  const Status begun = ports_.launcher.parse_job_file(
      asker.caller, std::move(request), [this, asker, what](spec::JobFileReading parsed) {
        if (asker.deadline < ports_.clock.now()) return;
        auto file = std::make_shared<spec::JobFileReading>(std::move(parsed));
        ports_.core.ask([this, asker, to = expect_reply(asker), what, file] {
          answer(to, check_job_file(core(), asker.caller, lookups_of(asker.caller), what,
                                    std::move(*file)));
        });
      });
  if (!begun) refuse(asker, begun.error().code, begun.error().message);
}

JobFileLookups Service::lookups_of(const Caller& caller) const {
  JobFileLookups lookups;
  lookups.show_environment = [this, caller](const std::string& reference) -> ClientReply {
    const Claim claim = claim_of(ShowEnvironment{reference}, state(), caller);
    Decision decision = may(state().principals(), caller, claim.permission, claim.object);
    if (decision.allowed) return environment_called(reference, caller);
    return Refused{ErrorCode::permission_denied, std::move(decision.why)};
  };
  lookups.expect_secrets = [this, caller](const std::set<std::string>& names) -> Status {
    TRY(check_secrets(state(), caller, names));
    return ports_.secrets.expect(owner_of(caller), names);
  };
  lookups.find_datastore = [this, caller](const std::string& project, const std::string& name) {
    return datastore_for(caller, project, name);
  };
  lookups.mapped_images = images_in_map();
  lookups.place_outputs = [this, caller](JobSpec& spec) { return place_outputs(caller, spec); };
  return lookups;
}

ReplyTo Service::expect_reply(const Asker& asker, std::optional<TokenReply> token) {
  if (pending_.size() >= kMaxPending) pending_.erase(pending_.begin());
  pending_[++last_pending_] = {asker, std::move(token)};
  return {last_pending_, asker.sequence};
}

void Service::answer(const ReplyTo& to, ClientReply body) {
  const auto found = pending_.find(to.client);
  if (found == pending_.end()) return;
  reply(found->second.asker, std::move(body));
  pending_.erase(found);
}

void Service::reply(const Asker& asker, ClientReply body) {
  for (AuditEntry& entry : entries_of(asker, body)) ports_.audit.record(std::move(entry));
  ports_.replies.send(asker.connection, asker.sequence, std::move(body));
}

void Service::refuse(const Asker& asker, ErrorCode code, std::string message) {
  reply(asker, Refused{code, std::move(message)});
}

void Service::perform(const ReplySubmitted& action) {
  SubmitReply said{action.job, false, {}};
  for (const Why& note : action.notes) said.notes.push_back(words::text_of(note));
  answer(action.to, std::move(said));
}
// The text of a token was made when it was requested. It is shown only after its hash is durable.
void Service::perform(const ReplyDone& action) {
  const auto found = pending_.find(action.to.client);
  if (found == pending_.end()) return;
  ClientReply body = Done{action.message};
  if (found->second.token) body = *std::move(found->second.token);
  answer(action.to, std::move(body));
}
void Service::perform(const ReplyRefused& action) {
  answer(action.to, Refused{action.code, action.message});
}
void Service::perform(const ReplyDeleted& action) { answer(action.to, action.result); }
void Service::perform(const ReplyCompute& action) {
  answer(action.to, ComputesReply{with_texts(core().compute_views(action.name))});
}
void Service::perform(const ReplySizes& action) {
  answer(action.to, SizesReply{core().size_views(action.names), {}});
}
void Service::perform(const ReplyAsset& action) {
  const auto found = pending_.find(action.to.client);
  if (found == pending_.end()) return;
  answer(action.to, show_asset(state(), found->second.asker.caller,
                               {action.kind, action.name, action.version}));
}
void Service::perform(const ReplyEnvironment& action) {
  const auto found = pending_.find(action.to.client);
  if (found == pending_.end()) return;
  const Viewer viewer(state(), found->second.asker.caller);
  answer(action.to, show_environment(state(), action.name + ":" + action.version, viewer));
}
void Service::perform(const ExitDaemon& action) {
  answer(action.to, Done{"the launcher is stopping"});
}

// Tells the client that its request waits. The client's wait begins anew, so the request is not
// late.
void Service::tell_pending(const WaitsForDisk& why, Instant until) {
  for (auto& [number, pending] : pending_) {
    Asker& asker = pending.asker;
    if (!asker.takes_waits) continue;
    asker.deadline = std::max(asker.deadline, until);
    ports_.replies.send(asker.connection, asker.sequence, why);
  }
}

}  // namespace lockstep::launcher
