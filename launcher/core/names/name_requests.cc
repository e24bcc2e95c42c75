#include "launcher/core/names/name_requests.h"

#include <fmt/format.h>

#include <algorithm>

#include "launcher/core/access/users.h"
#include "launcher/core/names/objects.h"
#include "launcher/core/queue/quotas.h"

namespace lockstep::launcher {
namespace {

std::vector<std::string> versions_of(const State& state, const NameKey& key) {
  std::vector<std::string> versions;
  if (key.kind == NameKind::environment) {
    const auto known = state.registered().find(key.name);
    if (known != state.registered().end())
      for (const EnvironmentVersion& one : known->second)
        versions.push_back(one.environment.spec.version);
    return versions;
  }
  if (const AssetName* known = state.assets().find(asset_kind_of(key.kind), key.name))
    for (const AssetVersion& one : known->versions) versions.push_back(one.asset.version);
  return versions;
}

bool has_version(const State& state, const NameKey& key, const std::string& version) {
  if (key.kind == NameKind::environment) return state.registered(key.name, version) != nullptr;
  const AssetName* known = state.assets().find(asset_kind_of(key.kind), key.name);
  return known != nullptr && known->find(version) != nullptr;
}

// Why the user cannot be allowed to add versions; "": the user can.
std::string why_not_shared(const Principals& principals, const NameKey& key, const OwnedName& name,
                           const std::string& user) {
  if (user == name.owner) return fmt::format("{} is {}'s own", describe(key), user);
  const User* known = principals.user(user);
  const bool may_submit =
      known != nullptr && (known->has(Role::submitter, name.project) || known->has(Role::admin));
  if (!may_submit)
    return fmt::format(
        "user '{0}' may not submit into project {1}, to which {2} belongs; an admin may "
        "change that with `lockstep user role {0} submitter --project {1}`",
        user, name.project, describe(key));
  if (name.grants.users.size() >= kMaxNameGrants)
    return fmt::format(
        "{} is shared with {} users, the most allowed; share it with its project instead: "
        "--with-project",
        describe(key), name.grants.users.size());
  return "";
}

std::string shared_text(const NameKey& key, const OwnedName& name, const ShareName& ask) {
  const std::string whom = ask.user.empty() ? "all who may submit into project " + name.project
                                            : fmt::format("user '{}'", ask.user);
  return ask.shared ? fmt::format("{}: {} may add versions", describe(key), whom)
                    : fmt::format("{}: {} may no longer add versions; those that were added stay",
                                  describe(key), whom);
}

// An unfinished job that uses the version, of a user who may see the name; null: there is none.
const Job* live_job_with(const State& state, const NameKey& key, const OwnedName& name,
                         const std::string& version) {
  for (const std::uint64_t order : state.jobs_with(key.kind, key.name + ":" + version)) {
    const Job& job = *state.job(state.submitted().at(order));
    if (is_allowed(state.principals(), UserCaller{job.spec.submitter}, Permission::see_names,
                   object_of(key, name)))
      return &job;
  }
  return nullptr;
}

Error needed_by(const State& state, const Caller& caller, const std::string& what, const Job& job) {
  const bool is_seen = is_allowed(state.principals(), caller, Permission::see_job, object_of(job));
  return make_error(
      ErrorCode::conflict,
      fmt::format("{} is needed by {}, which has not ended; delete it later, or archive it if only "
                  "lists shall leave it out",
                  what, is_seen ? fmt::format("job '{}'", job.id.value) : "another job"));
}

std::string_view counted_noun(QuotaLimit limit) {
  if (limit == QuotaLimit::versions) return "registered versions";
  if (limit == QuotaLimit::version_files) return "in files of registered versions";
  return "in definitions and texts of registered versions";
}

std::optional<Error> over_limit(const Cluster& cluster, const QuotaHolder& holder, QuotaLimit limit,
                                std::uint64_t more) {
  const auto most = limit_of(cluster, holder, limit);
  const std::uint64_t used = of(cluster.state.usage().of(holder), limit);
  if (!most || used + more <= *most) return std::nullopt;
  return make_error(
      ErrorCode::resource_exhausted,
      fmt::format(
          "quota: {0} has {1} {2}, this one would add {3}, and {4} are allowed; versions of "
          "environments, data, models and components count, archived ones too; delete those that "
          "nobody needs, such as `lockstep data delete NAME --version V`; an admin may raise it "
          "with `lockstep quota set --{5} {6} --{7} {8}`",
          to_string(holder), amount(limit, used), counted_noun(limit), amount(limit, more),
          amount(limit, *most), to_string(holder.kind), holder.name, to_string(limit),
          is_in_bytes(limit) ? "SIZE" : "N"));
}

// The texts that people may set on a version.
struct Texts {
  std::string description;
  std::map<std::string, std::string> tags;
  std::string by;  // the user who registered it
  std::int64_t bytes() const {
    std::size_t bytes = description.size();
    for (const auto& [key, value] : tags) bytes += key.size() + value.size();
    return static_cast<std::int64_t>(bytes);
  }
};

Texts texts_of(const State& state, const NameKey& key, const std::string& version) {
  if (key.kind == NameKind::environment) {
    const EnvironmentVersion& one = *state.registered(key.name, version);
    return {one.environment.description, one.environment.tags, one.by};
  }
  const AssetVersion& one = *state.assets().find(asset_kind_of(key.kind), key.name)->find(version);
  return {one.asset.description, one.asset.tags, one.by};
}

Texts changed_texts(Texts texts, const AnnotateVersion& ask) {
  if (ask.description) texts.description = *ask.description;
  if (ask.clear_tags) texts.tags.clear();
  for (const std::string& tag : ask.remove_tags) texts.tags.erase(tag);
  for (const auto& [tag, value] : ask.set_tags) texts.tags[tag] = value;
  return texts;
}

// Why the texts may not be changed. They count toward the quotas of the version's owner.
std::optional<Error> why_not_changed(const Cluster& cluster, const OwnedName& name,
                                     const AnnotateVersion& ask, const Texts& before,
                                     const Texts& after) {
  if (const Status good = validate_texts(ask.description.value_or(""), ask.set_tags); !good)
    return good.error();
  if (after.tags.size() > std::max(kMaxAssetTags, before.tags.size()))
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("tags: there would be {}; at most {} are possible",
                                  after.tags.size(), kMaxAssetTags));
  if (after.bytes() <= before.bytes()) return std::nullopt;
  const auto more = static_cast<std::uint64_t>(after.bytes() - before.bytes());
  for (const QuotaHolder& holder : holders_of(before.by, name.project))
    if (auto error = over_limit(cluster, holder, QuotaLimit::version_bytes, more)) return error;
  return std::nullopt;
}

}  // namespace

bool expect_version(Context& core, const ReplyTo& reply, const NameKey& key,
                    const std::string& version) {
  if (version.empty() || has_version(core.state, key, version)) return true;
  core.refuse(reply, ErrorCode::not_found,
              fmt::format("{} has no version '{}'; `lockstep {} list -n {}` shows all",
                          describe(key), version, to_string(key.kind), key.name));
  return false;
}

// Names are unique in the launcher, so that NAME@latest means the same in every project. A caller
// who may not see the name learns only that it is taken.
std::optional<Error> why_not_registered(const State& state, const Caller& caller,
                                        const NameKey& key, const std::string& wanted,
                                        const std::string& project) {
  const Principals& principals = state.principals();
  const NameClaim claim = claim_to_register(state, caller, key, project);
  Decision decision = may(principals, caller, claim.permission, claim.object);
  if (!decision.allowed) return make_error(ErrorCode::permission_denied, std::move(decision.why));
  const OwnedName* known = state.names().find(key.kind, key.name);
  if (known == nullptr) {
    if (principals.has_project(project)) return std::nullopt;
    return make_error(
        ErrorCode::not_found,
        fmt::format("there is no project '{}'; `lockstep project list` shows yours", project));
  }
  if (seen_name(state, caller, key) == nullptr)
    return make_error(ErrorCode::permission_denied,
                      fmt::format("the name '{}' is taken: names of {}s are unique in the "
                                  "launcher; choose another with --name",
                                  key.name, noun_of(key.kind)));
  if (wanted.empty() || wanted == known->project) return std::nullopt;
  return make_error(ErrorCode::conflict,
                    fmt::format("{} belongs to project {} and cannot move to another one; leave "
                                "--project {} out, or choose another name with --name",
                                describe(key), known->project, wanted));
}

std::optional<Error> why_no_room(const Cluster& cluster, const Caller& caller, const NameKey& key,
                                 const std::string& project, std::int64_t bytes, Bytes files) {
  const State& state = cluster.state;
  if (state.names().versions() >= kMaxVersions)
    return make_error(
        ErrorCode::resource_exhausted,
        fmt::format("the launcher has {} versions of environments, data, models and components, "
                    "the most that are possible; delete some",
                    kMaxVersions));
  if (std::holds_alternative<LauncherItself>(caller)) return std::nullopt;
  const OwnedName* known = state.names().find(key.kind, key.name);
  for (const QuotaHolder& holder : holders_of(owner_of(caller), project)) {
    // A name of the caller without versions counts as one version already.
    const bool is_counted =
        known != nullptr && known->versions == 0 &&
        (holder.kind == QuotaHolder::Kind::project || known->owner == holder.name);
    const std::uint64_t more = is_counted ? 0 : 1;
    if (auto error = over_limit(cluster, holder, QuotaLimit::versions, more)) return error;
    if (auto error = over_limit(cluster, holder, QuotaLimit::version_bytes,
                                static_cast<std::uint64_t>(bytes)))
      return error;
    if (files.count == 0) continue;
    if (auto error = over_limit(cluster, holder, QuotaLimit::version_files, files.count))
      return error;
  }
  return std::nullopt;
}

std::string next_version(const State& state, const NameKey& key) {
  const OwnedName* name = state.names().find(key.kind, key.name);
  std::uint64_t number = name == nullptr ? 1 : name->last_number + 1;
  // A number that is too long to count on from may be taken.
  while (has_version(state, key, std::to_string(number))) ++number;
  return std::to_string(number);
}

void react(Context& core, const ShareNameInput& input) {
  const ShareName& ask = input.ask;
  const NameKey key{ask.kind, ask.name};
  const OwnedName* name = name_to_manage(core, input.reply, input.caller, key);
  if (name == nullptr) return;
  const bool is_shared =
      ask.user.empty() ? name->grants.project : name->grants.users.count(ask.user) != 0;
  if (ask.shared && !ask.user.empty() && !is_shared)
    if (std::string why = why_not_shared(core.state.principals(), key, *name, ask.user);
        !why.empty())
      return core.refuse(input.reply, ErrorCode::invalid_argument, std::move(why));
  if (is_shared != ask.shared)
    core.emit(NameShared{ask.kind, ask.name, ask.user, ask.shared, name_of(input.caller)});
  core.act(ReplyDone{input.reply, shared_text(key, *name, ask)});
}

void react(Context& core, const AnnotateVersionInput& input) {
  const AnnotateVersion& ask = input.ask;
  const NameKey key{ask.kind, ask.name};
  const OwnedName* name = name_to_manage(core, input.reply, input.caller, key);
  if (name == nullptr) return;
  if (ask.version.empty())
    return core.refuse(input.reply, ErrorCode::invalid_argument, "version: name one to change");
  if (!expect_version(core, input.reply, key, ask.version)) return;
  const Texts before = texts_of(core.state, key, ask.version);
  Texts after = changed_texts(before, ask);
  if (auto error = why_not_changed(core.cluster(), *name, ask, before, after))
    return core.refuse(input.reply, error->code, std::move(error->message));
  const std::string what = fmt::format("{} {}:{}", noun_of(key.kind), key.name, ask.version);
  if (after.description == before.description && after.tags == before.tags)
    return core.act(
        ReplyDone{input.reply, what + " is unchanged: it has this description and these tags"});
  core.emit(VersionAnnotated{ask.kind, ask.name, ask.version, std::move(after.description),
                             std::move(after.tags), name_of(input.caller)});
  core.act(ReplyDone{input.reply, what + " is updated"});
}

void react(Context& core, const DeleteVersionsInput& input) {
  const DeleteVersions& ask = input.ask;
  const NameKey key{ask.kind, ask.name};
  const OwnedName* name = name_to_manage(core, input.reply, input.caller, key);
  if (name == nullptr || !expect_version(core, input.reply, key, ask.version)) return;
  std::vector<std::string> versions{ask.version};
  if (ask.version.empty()) versions = versions_of(core.state, key);
  for (const std::string& version : versions)
    if (const Job* job = live_job_with(core.state, key, *name, version)) {
      const std::string what = fmt::format("{} {}:{}", noun_of(key.kind), key.name, version);
      const Error error = needed_by(core.state, input.caller, what, *job);
      return core.refuse(input.reply, error.code, error.message);
    }
  core.emit(VersionsDeleted{ask.kind, ask.name, ask.version, name_of(input.caller)});
  core.act(
      ReplyDone{input.reply,
                ask.version.empty()
                    ? fmt::format("{}: deleted, with {} version{}; the name is free", describe(key),
                                  versions.size(), versions.size() == 1 ? "" : "s")
                    : fmt::format("{} {}:{}: deleted", noun_of(key.kind), key.name, ask.version)});
}

}  // namespace lockstep::launcher
