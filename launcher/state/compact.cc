#include "launcher/state/compact.h"

#include <algorithm>

#include "launcher/state/old_facts.h"

namespace lockstep::launcher {

namespace {

template <typename Map, typename Key>
std::uint64_t place(const Map& map, const Key& key) {
  const auto it = map.find(key);
  return it == map.end() ? 0 : it->second;
}

std::pair<NameKey, std::string> key_of(const EnvironmentRegistered& fact) {
  const EnvironmentSpec& spec = fact.environment.spec;
  return {{NameKind::environment, spec.name}, spec.version};
}
std::pair<NameKey, std::string> key_of(const AssetRegistered& fact) {
  return {{name_kind_of(kind_of(fact.asset)), fact.asset.name}, fact.asset.version};
}

}  // namespace

void Compaction::see(const StampedFact& fact) {
  ++seen_;
  newest_ = std::max(newest_, fact.at);
  record(fact.fact);
  whole_.apply(fact.at, fact.fact);
}

void Compaction::record(const Fact& fact) {
  if (const auto* changed = std::get_if<PartChanged>(&fact))
    reported_[{changed->attempt, changed->node}].last = seen_;
  if (const auto* saved = std::get_if<CheckpointSaved>(&fact))
    reported_[{saved->attempt, saved->node}].saved = seen_;
  if (const auto* sent = std::get_if<OutputsSoFar>(&fact))
    reported_[{sent->attempt, sent->node}].sent = seen_;
  if (const auto* deleted = std::get_if<JobDeleted>(&fact)) deleted_[deleted->job] = seen_;
  if (const auto* shared = std::get_if<JobShared>(&fact)) shared_[shared->job] = seen_;
  if (const auto* archived = std::get_if<JobArchived>(&fact)) archived_[archived->job] = seen_;
  if (const auto* annotated = std::get_if<JobAnnotated>(&fact)) annotated_[annotated->job] = seen_;
  if (const auto* one = std::get_if<EnvironmentRegistered>(&fact))
    registered_[key_of(*one)] = seen_;
  if (const auto* one = std::get_if<AssetRegistered>(&fact)) registered_[key_of(*one)] = seen_;
  if (const auto* locked = std::get_if<EnvironmentLocked>(&fact))
    if (const auto account = account_of(whole_, *locked))
      locked_.emplace(seen_,
                      EnvironmentId{locked->definition, *account, family_of(whole_, *locked)});
  if (const auto* token = std::get_if<TokenForgotten>(&fact))
    forgotten_[token->secret_hash] = seen_;
  if (const auto* lost = std::get_if<NodeLost>(&fact)) nodes_[lost->node].lost = seen_;
  if (const auto* drain = std::get_if<NodeDrainChanged>(&fact)) nodes_[drain->node].drained = seen_;
  if (const auto* notice = std::get_if<NodeNoticed>(&fact)) nodes_[notice->node].noticed = seen_;
  if (const auto* labels = std::get_if<NodeLabelsChanged>(&fact)) {
    nodes_[labels->node].labelled = seen_;
    const Node& node = *whole_.node(labels->node);
    if (!node.machine.empty()) labelled_[{node.pool, node.machine}] = seen_;
  }
  if (const auto* incarnation = std::get_if<IncarnationBegan>(&fact);
      incarnation != nullptr && incarnation->restored)
    restored_ = seen_;
  const auto* started = std::get_if<NodeSessionStarted>(&fact);
  if (started == nullptr) return;
  Sessions& sessions = nodes_[started->node];
  sessions.last = seen_;
  if (sessions.current == started->session) return;
  sessions.current = started->session;
  sessions.began.push_back(seen_);
  // Keeps as many sessions as State remembers, and the one that replaced the last of them.
  if (sessions.began.size() > kMaxPastSessions + 1) sessions.began.erase(sessions.began.begin());
}

// Returns true to keep the fact, which may have been rewritten. There is one overload for each
// fact, so that a new fact needs a decision; keeping it is always correct.
struct Compaction::FactFilter {
  Compaction& all;
  std::uint64_t at;  // the position of the fact

  bool here(NodeId node) const { return all.whole_.node(node) != nullptr; }
  const Sessions& sessions(NodeId node) const { return all.nodes_.at(node); }
  bool is_finished(const AttemptId& id, NodeId node) const {
    const std::vector<Part>& parts = all.whole_.attempt(id)->parts;
    return std::any_of(parts.begin(), parts.end(),
                       [&](const Part& part) { return part.node == node && part.finished(); });
  }

  bool operator()(TokenCreated& fact) const {
    return all.whole_.tokens().count(fact.secret_hash) != 0 &&
           at > place(all.forgotten_, fact.secret_hash);
  }
  bool operator()(TokenForgotten&) const { return false; }
  bool operator()(NodeJoined&) const { return true; }
  bool operator()(NodeApproved& fact) const { return here(fact.node); }
  bool operator()(NodeRemoved&) const { return true; }
  bool operator()(NodeRevised&) const { return false; }  // closing() writes it again
  bool operator()(IncarnationBegan& fact) const { return fact.restored && at == all.restored_; }
  bool operator()(NodeLost& fact) const {
    return here(fact.node) && at == sessions(fact.node).lost && at > sessions(fact.node).last;
  }
  bool operator()(NodeDrainChanged& fact) const {
    return here(fact.node) && fact.draining && at == sessions(fact.node).drained;
  }
  bool operator()(NodeSessionStarted& fact) const {
    if (!here(fact.node)) return false;
    const Sessions& known = sessions(fact.node);
    if (at == known.last) {
      fact.claim = all.whole_.node(fact.node)->host_claim;
      return true;
    }
    fact.inventory = {};  // the inventory of the last session counts
    return std::find(known.began.begin(), known.began.end(), at) != known.began.end();
  }
  bool operator()(JobSubmitted& fact) const {
    const Job& job = *all.whole_.job(fact.job);
    fact.order = job.order;
    fact.family = job.family;  // its parent may have been deleted
    return true;
  }
  bool operator()(AttemptPlaced& fact) const {
    const Attempt& attempt = *all.whole_.attempt(fact.attempt);
    for (std::size_t i = 0; i < fact.parts.size(); ++i)
      fact.parts[i].revision = attempt.parts[i].revision;
    return true;
  }
  bool operator()(PartChanged& fact) const {
    Reports& reports = all.reported_[{fact.attempt, fact.node}];
    if (fact.report.restored) reports.restored = fact.report.restored;
    if (fact.report.environment) reports.environment = fact.report.environment;
    if (fact.report.probe) reports.probe = fact.report.probe;
    if (!fact.report.settings.empty()) {
      reports.settings = fact.report.settings;
      reports.other_settings = fact.report.other_settings;
    }
    if (reports.state == fact.report.state && at != reports.last) return false;
    reports.state = fact.report.state;
    fact.report.restored = reports.restored;
    fact.report.environment = reports.environment;
    fact.report.probe = reports.probe;
    fact.report.settings = reports.settings;
    fact.report.other_settings = reports.other_settings;
    return true;
  }
  bool operator()(CheckpointSaved& fact) const {
    return at == all.reported_[{fact.attempt, fact.node}].saved;
  }
  bool operator()(FoundChanged&) const { return true; }  // the fact is one of the job's events
  // After the part's end, the fact holds outputs that the final report could not keep.
  bool operator()(OutputsSoFar& fact) const {
    const Reports& reports = all.reported_[{fact.attempt, fact.node}];
    return at == reports.sent && (at > reports.last || !is_finished(fact.attempt, fact.node));
  }
  bool operator()(FenceLifted&) const { return true; }
  bool operator()(AssetRegistered& fact) const {
    const auto [key, version] = key_of(fact);
    const AssetName* known = all.whole_.assets().find(kind_of(fact.asset), key.name);
    const AssetVersion* kept = known == nullptr ? nullptr : known->find(version);
    if (kept == nullptr || !is_last(fact, key, version, kept->foreign)) return false;
    fact.asset = kept->asset;  // with the texts that people set since
    return true;
  }
  bool operator()(AssetArchived&) const { return false; }  // closing() writes it again
  bool operator()(EnvironmentRegistered& fact) const {
    const auto [key, version] = key_of(fact);
    const EnvironmentVersion* kept = all.whole_.registered(key.name, version);
    if (kept == nullptr || !is_last(fact, key, version, kept->foreign)) return false;
    fact.environment = kept->environment;  // with the texts that people set since
    return true;
  }
  // The version may have been deleted and registered again. If the first version was deleted, the
  // owner of the name no longer follows from a registration, so it is written into the fact.
  template <typename Registered>
  bool is_last(Registered& fact, const NameKey& key, const std::string& version,
               bool foreign) const {
    if (at != all.registered_.at({key, version})) return false;
    fact.owner = all.whole_.names().find(key.kind, key.name)->owner;
    fact.foreign = foreign;
    return true;
  }
  bool operator()(VersionsDeleted&) const { return false; }
  bool operator()(NameShared&) const { return false; }           // closing() writes it again
  bool operator()(NameSettled&) const { return false; }          // closing() writes it again
  bool operator()(EnvironmentArchived&) const { return false; }  // closing() writes it again
  bool operator()(VersionAnnotated&) const { return false; }     // the registration has these texts
  bool operator()(EnvironmentWanted&) const { return true; }
  bool operator()(EnvironmentNotSolved&) const { return true; }
  bool operator()(EnvironmentLocked& fact) const {
    const auto id = all.locked_.find(at);
    if (id == all.locked_.end()) return false;  // no environment uses the lock
    fact.account = id->second.account;
    fact.family = id->second.family;
    const Environment* known = all.whole_.environment(id->second);
    if (known == nullptr || known->generation != fact.generation) return false;
    const auto lock = known->locks.find(fact.lock.platform);
    return lock != known->locks.end() && lock->second.tree == fact.lock.tree;
  }
  bool operator()(EnvironmentReset& fact) const {
    const auto has = [&](const EnvironmentId& id) {
      const Environment* known = all.whole_.environment(id);
      return known != nullptr && known->generation == fact.generation;
    };
    if (fact.account) return has({fact.definition, *fact.account, fact.family});
    const auto all_of_it = all.whole_.environments_of(fact.definition);
    return std::any_of(all_of_it.begin(), all_of_it.end(), has);
  }
  bool operator()(EnvironmentsPruned& fact) const {
    return all.whole_.environments_unused_since() == fact.unused_since;
  }
  bool operator()(CancelRequested&) const { return true; }
  bool operator()(JobShared& fact) const { return fact.shared && at == all.shared_.at(fact.job); }
  bool operator()(JobArchived& fact) const {
    return fact.archived && at == all.archived_.at(fact.job);
  }
  bool operator()(JobAnnotated& fact) const { return at == all.annotated_.at(fact.job); }
  bool operator()(JobPriorityChanged&) const { return true; }
  bool operator()(DependencyMet&) const { return true; }
  bool operator()(JobAtHead&) const { return true; }
  bool operator()(RecentUseSet&) const { return false; }  // closing() writes it again
  bool operator()(ProjectCreated&) const { return true; }
  bool operator()(ProjectRemoved&) const { return true; }
  bool operator()(UserAdded&) const { return true; }
  bool operator()(UserAccountSet&) const { return true; }
  bool operator()(UserRemoved&) const { return true; }
  bool operator()(RoleGranted&) const { return true; }
  bool operator()(RoleWithdrawn&) const { return true; }
  bool operator()(UserKeyAdded&) const { return true; }
  bool operator()(UserKeyRevoked&) const { return true; }
  bool operator()(QuotaSet&) const { return true; }
  // Ended jobs may name a target that was deleted since, and their pool follows from these facts.
  bool operator()(ComputeCreated&) const { return true; }
  bool operator()(ComputeUpdated&) const { return true; }
  bool operator()(ComputeDeleted&) const { return true; }
  bool operator()(ComputeLeaving&) const { return true; }
  bool operator()(InstanceStarted&) const { return true; }
  bool operator()(InstanceStopped&) const { return true; }
  bool operator()(MachineWanted&) const { return true; }
  bool operator()(MachineFound&) const { return true; }
  bool operator()(MachineCreated&) const { return true; }
  bool operator()(MachineFailed&) const { return true; }
  bool operator()(MachineLeaving&) const { return true; }
  bool operator()(MachineGone&) const { return true; }
  bool operator()(SizeDefined&) const { return true; }
  bool operator()(SizeRemoved&) const { return true; }
  bool operator()(SizeGranted&) const { return true; }
  bool operator()(NodeLabelsChanged& fact) const {
    if (fact.labels.empty()) return false;
    return (here(fact.node) && at == sessions(fact.node).labelled) || all.is_of_host(fact.node, at);
  }
  bool operator()(NodeNoticed& fact) const {
    return here(fact.node) && at == sessions(fact.node).noticed && at > sessions(fact.node).last;
  }
  bool operator()(GangFormed&) const { return true; }
  bool operator()(PartGone&) const { return true; }
  bool operator()(AttemptDoomed&) const { return true; }
  bool operator()(AttemptEnded&) const { return true; }
  bool operator()(JobRequeued&) const { return true; }
  bool operator()(PartReleased&) const { return true; }
  bool operator()(JobFinished&) const { return true; }
  bool operator()(OutputsMerged&) const { return true; }
  bool operator()(OutputWritten&) const { return true; }
  bool operator()(OutputNotWritten& fact) const {  // only the newest such fact counts
    for (const OutputWrite& write : all.whole_.job(fact.job)->writes)
      if (write.output == fact.output) return write.tries == fact.tries;
    return false;
  }
  bool operator()(StepReused&) const { return true; }
  bool operator()(StepSkipped&) const { return true; }
  bool operator()(JobDeleted& fact) const {
    if (all.whole_.deleted().with_submission(fact.submission) != nullptr) return true;
    return at == all.deleted_.at(fact.job) && all.whole_.deleted().last().count(fact.job) != 0;
  }
};

// True if the labels set on the node at that time are kept for its host, which gets them when it is
// attached again.
bool Compaction::is_of_host(NodeId id, std::uint64_t at) const {
  const Node& node = *kept_.node(id);  // the node may have been removed later
  const auto last = labelled_.find({node.pool, node.machine});
  return last != labelled_.end() && last->second == at &&
         !whole_.computes().kept_labels(node.pool, node.machine).empty();
}

std::optional<StampedFact> Compaction::keep(const StampedFact& fact) {
  ++at_;
  // If the job's name was deleted later, only the deletion is kept.
  const JobId* job = job_of(fact.fact);
  const bool is_deletion = std::holds_alternative<JobDeleted>(fact.fact);
  if (job != nullptr && !is_deletion && at_ < place(deleted_, *job)) return std::nullopt;
  StampedFact kept = fact;
  if (!std::visit(FactFilter{*this, at_}, kept.fact)) return std::nullopt;
  kept_.apply(kept.at, kept.fact);
  return kept;
}

std::vector<StampedFact> Compaction::closing() {
  std::vector<StampedFact> facts;
  const auto add = [&](Fact fact) {
    kept_.apply(newest_, fact);
    facts.push_back({newest_, std::move(fact)});
  };
  if (whole_.incarnation() > kept_.incarnation())
    add(IncarnationBegan{whole_.incarnation(), false});
  for (const auto& [id, node] : whole_.nodes()) {
    const bool is_kept = kept_.node(id)->history == node.history;
    if (node.revision != 0 || !is_kept)
      add(NodeRevised{id, node.revision, is_kept ? std::vector<NodeEvent>() : node.history});
  }
  for (const auto& [key, name] : whole_.names().all()) {
    const OwnedName* kept = kept_.names().find(key.kind, key.name);
    if (kept != nullptr && *kept == name) continue;
    add(NameSettled{key.kind, key.name, name.owner, name.project, name.grants, name.last_number});
  }
  for (const auto& [key, known] : whole_.assets().names())
    for (const AssetVersion& version : known.versions)
      if (version.archived) add(AssetArchived{key.first, key.second, version.asset.version, true});
  for (const auto& [name, versions] : whole_.registered())
    for (const EnvironmentVersion& version : versions)
      if (version.archived) add(EnvironmentArchived{name, version.environment.spec.version, true});
  for (const auto& [name, pool] : whole_.shares().pools())
    for (const auto& [user, use] : pool.users) add(RecentUseSet{name, user, use.recent, use.at});
  return facts;
}

std::vector<StampedFact> compact(const std::vector<StampedFact>& facts) {
  Compaction compaction;
  for (const StampedFact& fact : facts) compaction.see(fact);
  std::vector<StampedFact> kept;
  for (const StampedFact& fact : facts)
    if (auto stays = compaction.keep(fact)) kept.push_back(std::move(*stays));
  for (StampedFact& fact : compaction.closing()) kept.push_back(std::move(fact));
  return kept;
}

}  // namespace lockstep::launcher
