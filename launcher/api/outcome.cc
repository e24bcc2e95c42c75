#include "launcher/api/outcome.h"

#include <fmt/format.h>

#include "common/base/utf8.h"
#include "common/grammar/key_word.h"
#include "launcher/api/checks/compute_changes.h"
#include "launcher/core/access/user_changes.h"

namespace lockstep::launcher {
namespace {

// The most bytes of names in one entry; further names go into another entry.
constexpr std::size_t kObjectBytes = 1'500;

std::string job(const JobId& id) { return "job " + id.value; }
std::string user(const std::string& name) { return "user " + name; }

struct AskedOfChange {
  const Principals& principals;

  // If a name was removed and added again, the user who has it now.
  std::string known(const std::string& name) const {
    return user(current_user_name(principals, name));
  }
  Asked operator()(const AddUser& m) const {
    return {"add user", user(m.name), "as " + to_string(m.grant), true};
  }
  Asked operator()(const RemoveUser& m) const { return {"remove user", known(m.name), "", true}; }
  Asked operator()(const SetAccount& m) const {
    return {"change account", known(m.name), "to " + m.account, true};
  }
  Asked operator()(const ChangeRole& m) const {
    return {m.withdraw ? "take role" : "give role", known(m.name), to_string(m.grant), true};
  }
  Asked operator()(const AddKey& m) const {
    return {m.replaces ? "replace key" : "add key", known(m.user), key_word(m.key), true};
  }
  Asked operator()(const RevokeKey& m) const {
    const User* holder = principals.user_with_key(m.key);
    return {"revoke key", holder != nullptr ? user(holder->name) : "key " + key_word(m.key),
            key_word(m.key), true};
  }
  Asked operator()(const SetQuota& m) const { return {"set quota", to_string(m.holder), "", true}; }
  Asked operator()(const CreateProject& m) const {
    return {"create project", "project " + m.name, "", true};
  }
  Asked operator()(const RemoveProject& m) const {
    return {"remove project", "project " + m.name, "", true};
  }
};

struct AskedOf {
  const State& state;

  Asked operator()(const Submit& m) const {
    Asked asked{"submit job", m.spec.name.empty() ? "a job" : "job " + m.spec.name, "", true};
    if (!m.spec.run_as.empty()) asked.detail = "as account " + m.spec.run_as;
    asked.holds_values = true;
    return asked;
  }
  Asked operator()(const CheckJobFile&) const { return {"check job file", "a job file"}; }
  Asked operator()(const CancelJob& m) const { return {"cancel job", job(m.job), "", true}; }
  Asked operator()(const ShareJob& m) const {
    return {m.shared ? "share job" : "unshare job", job(m.job), "", true};
  }
  Asked operator()(const UpdateJob& m) const {
    return {"update job", job(m.job), fmt::format("priority {}", to_string(m.priority)), true};
  }
  Asked operator()(const ArchiveJob& m) const {
    return {m.archived ? "archive job" : "restore job", job(m.job), "", true};
  }
  // The keys only: values are for those who may read the job.
  Asked operator()(const AnnotateJob& m) const {
    std::string keys;
    const auto add = [&](const std::string& key) { keys += (keys.empty() ? "" : ", ") + key; };
    if (m.display_name) add("display_name");
    if (m.description) add("description");
    if (m.experiment_name) add("experiment_name");
    if (m.clear_tags) add("tags");
    for (const auto& [key, value] : m.set_tags) add("tags." + key);
    for (const std::string& key : m.remove_tags) add("tags." + key);
    return {"update job", job(m.job), std::string(head(keys, kObjectBytes)), true};
  }
  Asked operator()(const DeleteJobs& m) const {
    const char* which = m.all_users   ? "all ended jobs of all users"
                        : m.all_final ? "all ended jobs"
                                      : "jobs";
    return {"delete jobs", which, "", true};
  }
  Asked operator()(const ListJobs&) const { return {"list jobs", "jobs"}; }
  Asked operator()(const ShowJob& m) const { return {"show job", job(m.job)}; }
  Asked operator()(const ExplainJob& m) const { return {"explain job", job(m.job)}; }
  Asked operator()(const ListEvents& m) const { return {"list events", job(m.job)}; }
  Asked operator()(const WatchJob& m) const { return {"watch job", job(m.job)}; }
  Asked operator()(const GetMetrics& m) const { return {"get metrics", job(m.job)}; }
  Asked operator()(const GetLatest&) const { return {"get latest metrics", "jobs"}; }
  Asked operator()(const ListNodes&) const { return {"list nodes", "nodes"}; }
  Asked operator()(const ShowNode& m) const {
    return {"show node", audited_node(state, m.name_or_id)};
  }
  Asked operator()(const CreateToken& m) const {
    return {"create token",
            fmt::format("a join token for {} nodes{}{}", m.uses,
                        m.compute.empty() ? "" : " of compute " + m.compute,
                        m.approval == Approval::required ? ", which wait for approval" : ""),
            "", true};
  }
  Asked operator()(const ListTokens&) const { return {"list tokens", "join tokens"}; }
  Asked operator()(const RevokeToken& m) const {
    return {"revoke token", "join token " + std::string(head(m.id, kTokenIdCharacters)), "", true};
  }
  Asked operator()(const CreateCompute& m) const {
    return {"create compute", "compute " + m.spec.name, "", true};
  }
  Asked operator()(const UpdateCompute& m) const {
    const Compute* known = state.computes().find(m.spec.name);
    std::string changes = known == nullptr ? "" : changed_keys(known->spec, m.spec);
    if (m.upgrade) changes += "; upgrades the agents";
    return {"update compute", "compute " + m.spec.name, std::move(changes), true};
  }
  Asked operator()(const DeleteCompute& m) const {
    return {"delete compute", "compute " + m.name, "", true};
  }
  Asked operator()(const AttachHosts& m) const {
    std::string hosts;
    for (const SshHost& host : m.hosts) hosts += (hosts.empty() ? "" : ", ") + host.name;
    return {"attach hosts", "compute " + m.name, hosts, true};
  }
  Asked operator()(const DetachHosts& m) const {
    std::string hosts;
    for (const std::string& host : m.hosts) hosts += (hosts.empty() ? "" : ", ") + host;
    return {"detach hosts", "compute " + m.name, hosts + (m.force ? " by force" : ""), true};
  }
  Asked operator()(const StartCompute& m) const {
    return {"start compute", "compute " + m.name, "", true};
  }
  Asked operator()(const StopCompute& m) const {
    return {"stop compute", "compute " + m.name, m.force ? "by force" : "", true};
  }
  Asked operator()(const RestartCompute& m) const {
    return {"restart compute", "compute " + m.name, m.force ? "by force" : "", true};
  }
  Asked operator()(const ListComputes& m) const {
    return {"list compute", m.name.empty() ? "compute targets" : "compute " + m.name};
  }
  Asked operator()(const ReadComputeLog& m) const {
    return {"read compute log", "compute " + m.name};
  }
  Asked operator()(const DefineSizes& m) const {
    std::string names;
    for (const Size& size : m.sizes) names += (names.empty() ? "size " : ", ") + size.name;
    return {"add sizes", std::string(head(names, kObjectBytes)), "", true};
  }
  Asked operator()(const RemoveSize& m) const {
    return {"remove size", "size " + m.name, "", true};
  }
  Asked operator()(const GrantSize& m) const {
    return {"grant size", "size " + m.name, fmt::format("{} machines", m.machines), true};
  }
  Asked operator()(const ListSizes& m) const {
    return {"list sizes", m.name.empty() ? "sizes" : "size " + m.name};
  }
  Asked operator()(const LabelNode& m) const {
    return {"label node", audited_node(state, m.name_or_id), labels_text(m.set), true};
  }
  Asked operator()(const DrainNode& m) const {
    return {m.drain ? "drain node" : "resume node", audited_node(state, m.name_or_id), "", true};
  }
  Asked operator()(const ApproveNode& m) const {
    return {"approve node", audited_node(state, m.name_or_id), "", true};
  }
  Asked operator()(const RemoveNode& m) const {
    return {m.now ? "revoke node" : "remove node", audited_node(state, m.name_or_id), "", true};
  }
  Asked operator()(const CreateEnvironment& m) const {
    const EnvironmentSpec& spec = m.environment.spec;
    Asked asked{"create environment",
                "environment " + spec.name + (spec.version.empty() ? "" : ":" + spec.version), "",
                true};
    asked.holds_values = true;
    return asked;
  }
  Asked operator()(const ShowEnvironment& m) const {
    return {"show environment", "environment " + m.reference};
  }
  static std::string asset(AssetKind kind, const std::string& name, const std::string& version) {
    return fmt::format("{} {}{}{}", noun_of(kind), name, version.empty() ? "" : ":", version);
  }
  Asked operator()(const CreateAsset& m) const {
    const AssetKind kind = kind_of(m.asset);
    return {fmt::format("create {}", noun_of(kind)), asset(kind, m.asset.name, m.asset.version),
            "from " + std::string(head(m.asset.path, kObjectBytes)), true};
  }
  Asked operator()(const ArchiveAsset& m) const {
    return {fmt::format("{} {}", m.archived ? "archive" : "restore", noun_of(m.kind)),
            asset(m.kind, m.name, m.version), "", true};
  }
  static std::string version_of(NameKind kind, const std::string& name,
                                const std::string& version) {
    return fmt::format("{} {}{}{}", noun_of(kind), name, version.empty() ? "" : ":", version);
  }
  Asked operator()(const ShareName& m) const {
    return {fmt::format("{} {}", m.shared ? "share" : "unshare", noun_of(m.kind)),
            version_of(m.kind, m.name, ""),
            m.user.empty() ? "with its project" : "with user " + m.user, true};
  }
  Asked operator()(const DeleteVersions& m) const {
    return {fmt::format("delete {}", noun_of(m.kind)), version_of(m.kind, m.name, m.version),
            m.version.empty() ? "all versions, and the name" : "", true};
  }
  Asked operator()(const ArchiveEnvironment& m) const {
    return {m.archived ? "archive environment" : "restore environment",
            version_of(NameKind::environment, m.name, m.version), "", true};
  }
  // The keys only, as for a job.
  Asked operator()(const AnnotateVersion& m) const {
    std::string keys;
    const auto add = [&](const std::string& key) { keys += (keys.empty() ? "" : ", ") + key; };
    if (m.description) add("description");
    if (m.clear_tags) add("tags");
    for (const auto& [key, value] : m.set_tags) add("tags." + key);
    for (const std::string& key : m.remove_tags) add("tags." + key);
    return {fmt::format("update {}", noun_of(m.kind)), version_of(m.kind, m.name, m.version),
            std::string(head(keys, kObjectBytes)), true};
  }
  Asked operator()(const ShowAsset& m) const {
    return {fmt::format("show {}", noun_of(m.kind)), asset(m.kind, m.name, m.version)};
  }
  Asked operator()(const ListAssets& m) const {
    const std::string all = fmt::format("{}s", noun_of(m.kind));
    return {"list " + all, all};
  }
  Asked operator()(const ListDatastores&) const { return {"list datastores", "datastores"}; }
  Asked operator()(const ListEnvironments&) const { return {"list environments", "environments"}; }
  Asked operator()(const PruneEnvironments&) const {
    return {"prune environments", "environments", "", true};
  }
  Asked operator()(const GetStatus&) const { return {"get status", "the launcher"}; }
  Asked operator()(const Shutdown& m) const {
    return {"shut down", "the launcher", m.cancel_jobs ? "jobs are canceled" : "", true};
  }
  Asked operator()(const WhoAmI&) const { return {"ask who it is", "itself"}; }
  Asked operator()(const ListUsers& m) const {
    return {"list users", m.name.empty() ? "users" : user(m.name)};
  }
  Asked operator()(const ListProjects&) const { return {"list projects", "projects"}; }
  Asked operator()(const ChangePrincipals& m) const {
    return std::visit(AskedOfChange{state.principals()}, m.change);
  }
  Asked operator()(const SetSecret& m) const {
    return {"set secret", "secret " + m.name, "", true};
  }
  Asked operator()(const RemoveSecret& m) const {
    return {"remove secret", "secret " + m.name, "", true};
  }
  Asked operator()(const ListSecrets&) const { return {"list secrets", "its own secrets"}; }
  Asked operator()(const ListQuotas&) const { return {"list quotas", "quotas"}; }
  Asked operator()(const GetUsage&) const { return {"get usage", "nodes and jobs"}; }
  Asked operator()(const QueryAudit&) const { return {"read the audit log", "audit log"}; }
  Asked operator()(const VerifyAudit&) const { return {"verify the audit log", "audit log"}; }
};

AuditEntry entry_of(const Asker& asker, AuditOutcome outcome, std::string detail) {
  AuditEntry entry;
  entry.who = std::holds_alternative<AttemptCaller>(asker.caller)
                  ? fmt::format("{} ({})", owner_of(asker.caller), name_of(asker.caller))
                  : name_of(asker.caller);
  entry.key = asker.key.value;
  entry.address = asker.address;
  entry.what = asker.asked.what;
  entry.object = asker.asked.object;
  entry.outcome = outcome;
  entry.detail = std::move(detail);
  entry.project = asker.asked.project;
  return entry;
}

// Names every job, in as many entries as that needs. Jobs of one project are together.
void add_deleted(const Asker& asker, const JobsDeleted& reply, std::vector<AuditEntry>* entries) {
  std::string names, project;
  const auto flush = [&] {
    if (names.empty()) return;
    entries->push_back(entry_of(asker, AuditOutcome::done, ""));
    entries->back().object = std::move(names);
    entries->back().project = project;
    names.clear();
  };
  for (std::size_t i = 0; i < reply.jobs.size(); ++i) {
    const std::string its = i < reply.projects.size() ? reply.projects[i] : "";
    if (its != project || names.size() > kObjectBytes) flush();
    project = its;
    names += (names.empty() ? "job " : ", job ") + reply.jobs[i].value;
  }
  flush();
  for (const auto& kept : reply.kept) {
    entries->push_back(entry_of(asker, AuditOutcome::refused, kept.message));
    entries->back().object = job(kept.job);
    entries->back().project = kept.project;
  }
}

struct EntriesOf {
  const Asker& asker;
  std::vector<AuditEntry>& entries;

  void operator()(const Refused& m) const {
    const bool is_told = m.code == ErrorCode::permission_denied;
    if (!asker.asked.changes && !is_told) return;
    const bool may_quote = asker.asked.holds_values && !is_told;
    add(AuditOutcome::refused, may_quote ? std::string(to_string(m.code)) : m.message);
  }
  void operator()(const SubmitReply& m) const {
    if (m.snapshot_missing) return;  // the client submits again, with the files
    add(AuditOutcome::done, asker.asked.detail);
    entries.back().object = job(m.job);
  }
  void operator()(const JobsDeleted& m) const { add_deleted(asker, m, &entries); }
  void operator()(const Done& m) const {
    if (asker.asked.changes)
      add(AuditOutcome::done, asker.asked.detail.empty() ? m.message : asker.asked.detail);
  }
  void operator()(const EnvironmentReply& m) const {
    const EnvironmentSpec& spec = m.environment.environment.spec;
    if (!asker.asked.changes) return read();
    add(AuditOutcome::done, "");
    entries.back().object = fmt::format("environment {}:{}", spec.name, spec.version);
  }
  void operator()(const AssetReply& m) const {
    if (!asker.asked.changes) return read();
    add(AuditOutcome::done, asker.asked.detail);
    const RegisteredAsset& asset = m.asset.asset;
    entries.back().object = fmt::format("{} {}", noun_of(kind_of(asset)), reference_of(asset));
  }
  void operator()(const TokenReply& m) const {
    add(AuditOutcome::done, "until " + to_string(m.expires));
  }
  template <typename Answer>
  void operator()(const Answer&) const {
    if (asker.asked.changes) return add(AuditOutcome::done, asker.asked.detail);
    read();
  }
  void read() const {
    if (asker.asked.reads_others) add(AuditOutcome::read, asker.asked.detail);
  }
  void add(AuditOutcome outcome, std::string detail) const {
    entries.push_back(entry_of(asker, outcome, std::move(detail)));
  }
};

}  // namespace

Asked asked_of(const ClientRequest& request, const State& state) {
  return std::visit(AskedOf{state}, request);
}

std::vector<AuditEntry> entries_of(const Asker& asker, const ClientReply& reply) {
  std::vector<AuditEntry> entries;
  std::visit(EntriesOf{asker, entries}, reply);
  return entries;
}

std::string audited_node(const State& state, const std::string& name_or_id) {
  const Node* node = state.node_called(name_or_id);
  return "node " + (node != nullptr ? node->name : name_or_id);
}

std::string audited_node(const State& state, NodeId node) {
  const std::string name = state.node_name(node);
  return name.starts_with("node ") ? name : "node " + name;  // a node that no longer exists
}

}  // namespace lockstep::launcher
