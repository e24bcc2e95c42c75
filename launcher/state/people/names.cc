#include "launcher/state/people/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/domain/job/pipeline.h"
#include "common/domain/people/access.h"

namespace lockstep::launcher {
namespace {

constexpr std::size_t kMaxCountedDigits = 17;

std::size_t text_bytes(const std::map<std::string, std::string>& map) {
  std::size_t bytes = 0;
  for (const auto& [name, value] : map) bytes += name.size() + value.size();
  return bytes;
}

void count(UsageTable& usage, const std::string& user, const std::string& project,
           std::int64_t versions, std::int64_t bytes, std::int64_t files = 0) {
  usage.add(holders_of(user, project),
            {.versions = versions, .version_bytes = bytes, .version_files = files});
}

std::int64_t counted_bytes_of(const Names::Version& version) {
  return static_cast<std::int64_t>(version.files.count);
}

}  // namespace

std::string describe(const NameKey& key) {
  return fmt::format("{} '{}'", noun_of(key.kind), key.name);
}

AssetKind asset_kind_of(NameKind kind) {
  switch (kind) {
    case NameKind::environment:
    case NameKind::data: return AssetKind::data;
    case NameKind::model: return AssetKind::model;
    case NameKind::component: return AssetKind::component;
  }
  return AssetKind::data;
}

std::uint64_t number_of_version(const std::string& version) {
  const bool counts = !version.empty() && version.size() <= kMaxCountedDigits &&
                      version.find_first_not_of("0123456789") == std::string::npos;
  return counts ? std::stoull(version) : 0;
}

std::int64_t version_bytes(const RegisteredEnvironment& environment) {
  const EnvironmentSpec& spec = environment.spec;
  return static_cast<std::int64_t>(spec.name.size() + spec.version.size() +
                                   environment.description.size() + text_bytes(environment.tags) +
                                   canonical_form(spec.definition).size());
}

std::int64_t version_bytes(const RegisteredAsset& asset) {
  return static_cast<std::int64_t>(asset.name.size() + asset.version.size() + asset.path.size() +
                                   asset.file.size() + asset.description.size() +
                                   text_bytes(asset.tags));
}

void each_named_version(const JobSpec& spec,
                        const std::function<void(NameKind kind, std::string version)>& take) {
  constexpr std::string_view kReference = "azureml:", kJobs = "azureml:/";
  if (spec.environment && !spec.environment->name.empty() && !spec.environment->version.empty())
    take(NameKind::environment, spec.environment->name + ":" + spec.environment->version);
  for (const DataInput& input : spec.data)
    if (input.source.starts_with(kReference) && !input.source.starts_with(kJobs))
      take(name_kind_of(kind_of(input.type)), input.source.substr(kReference.size()));
  if (spec.pipeline)
    for (const PipelineStep& step : spec.pipeline->steps) each_named_version(step.spec, take);
}

const OwnedName* Names::find(NameKind kind, const std::string& name) const {
  const auto found = names_.find({kind, name});
  return found == names_.end() ? nullptr : &found->second;
}

bool Names::registered(const Version& version, const std::string& owner, const std::string& project,
                       bool foreign, UsageTable& usage) {
  const auto [entry, is_new] = names_.try_emplace(version.key);
  OwnedName& name = entry->second;
  if (is_new) {
    name.owner = owner.empty() ? version.by : owner;
    name.project = project.empty() ? std::string(kDefaultProject) : project;
  } else if (name.versions == 0) {
    count(usage, name.owner, name.project, -1, 0);
  }
  ++name.versions;
  ++versions_;
  name.last_number = std::max(name.last_number, number_of_version(version.version));
  count(usage, version.by, name.project, 1, version.bytes, counted_bytes_of(version));
  return foreign || (owner.empty() && version.by != name.owner);
}

void Names::deleted(const Version& version, UsageTable& usage) {
  const auto entry = names_.find(version.key);
  if (entry == names_.end()) return;
  OwnedName& name = entry->second;
  --versions_;
  count(usage, version.by, name.project, -1, -version.bytes, -counted_bytes_of(version));
  if (--name.versions == 0) count(usage, name.owner, name.project, 1, 0);
}

void Names::grown(const NameKey& key, const std::string& by, std::int64_t bytes,
                  UsageTable& usage) {
  const auto entry = names_.find(key);
  if (entry != names_.end()) count(usage, by, entry->second.project, 0, bytes);
}

void Names::released(const NameKey& key, UsageTable& usage) {
  const auto entry = names_.find(key);
  if (entry == names_.end() || entry->second.versions > 0) return;
  count(usage, entry->second.owner, entry->second.project, -1, 0);
  names_.erase(entry);
}

void Names::apply(const NameShared& fact) {
  const auto entry = names_.find({fact.kind, fact.name});
  if (entry == names_.end()) return;
  NameGrants& grants = entry->second.grants;
  if (fact.user.empty())
    grants.project = fact.shared;
  else if (fact.shared)
    grants.users.insert(fact.user);
  else
    grants.users.erase(fact.user);
}

void Names::apply(const NameSettled& fact, UsageTable& usage) {
  const auto [entry, is_new] = names_.try_emplace({fact.kind, fact.name});
  OwnedName& name = entry->second;
  name = {fact.owner, fact.project, fact.grants, fact.last_number, name.versions};
  if (is_new) count(usage, name.owner, name.project, 1, 0);
}

}  // namespace lockstep::launcher
