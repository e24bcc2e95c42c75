#include "launcher/api/queries/asset_queries.h"

#include <algorithm>

#include "launcher/core/names/objects.h"

namespace lockstep::launcher {
namespace {

constexpr std::size_t kMaxJobsLookedAt = 2'000;

Refused refused(const Error& error) { return {error.code, error.message}; }

// Sets the origin. The job of its path is named only to those who may see that job.
void set_origin(const State& state, const Viewer& viewer, AssetView& view) {
  view.made_by = maker_of(view.asset);
  const Job* job = view.made_by.value.empty() ? nullptr : state.job(view.made_by);
  if (job == nullptr || viewer.sees(*job)) return;
  view.asset.path = kHiddenValue;
  view.made_by = {};
}

const OwnedName& owned(const State& state, const RegisteredAsset& asset) {
  return *state.names().find(name_kind_of(kind_of(asset)), asset.name);
}

AssetView view_of(const State& state, const Viewer& viewer, const AssetName& name,
                  const AssetVersion& version) {
  AssetView view{version.asset,    version.at, version.by, name.project,
                 version.archived, JobId(),    {}};
  const OwnedName& rights = owned(state, version.asset);
  view.owner = rights.owner;
  view.grants = rights.grants;
  view.files = version.files;
  set_origin(state, viewer, view);
  return view;
}

std::vector<JobId> jobs_with(const State& state, const Viewer& viewer,
                             const RegisteredAsset& asset) {
  const std::string source = "azureml:" + reference_of(asset);
  const auto is_it = [&](const DataInput& input) {
    return input.source == source && kind_of(input.type) == kind_of(asset);
  };
  std::vector<JobId> jobs;
  std::size_t looked_at = 0;
  const auto& all = state.submitted();
  for (auto it = all.rbegin(); it != all.rend() && jobs.size() < kMaxJobsInLineage; ++it) {
    if (++looked_at > kMaxJobsLookedAt) break;
    const Job& job = *state.job(it->second);
    if (std::any_of(job.spec.data.begin(), job.spec.data.end(), is_it) && viewer.reads(job))
      jobs.push_back(job.id);
  }
  return jobs;
}

std::size_t rough_bytes(const AssetView& view) {
  std::size_t bytes = 512 + view.asset.description.size() + view.asset.path.size();
  for (const auto& [key, value] : view.asset.tags) bytes += key.size() + value.size() + 8;
  return bytes;
}

// Counts the versions that do not fit into the reply.
class Page {
 public:
  void add(AssetView view) {
    bytes_ += rough_bytes(view);
    if (reply.more > 0 || bytes_ > kMaxPageBytes || reply.assets.size() >= kMaxAssetsInReply)
      ++reply.more;
    else
      reply.assets.push_back(std::move(view));
  }
  AssetsReply reply;

 private:
  std::size_t bytes_ = 0;
};

}  // namespace

ClientReply show_asset(const State& state, const Caller& caller, const ShowAsset& question) {
  const AssetName* known = seen_asset(state, caller, question.kind, question.name);
  if (known == nullptr) return refused(no_such_asset(state, caller, question.kind, question.name));
  const AssetVersion* version = question.version.empty()
                                    ? known->newest(owned(state, known->versions.front().asset))
                                    : known->find(question.version);
  if (version == nullptr) return refused(no_such_version(*known, question.version));
  const Viewer viewer(state, caller);
  AssetView view = view_of(state, viewer, *known, *version);
  if (question.kind != AssetKind::component)  // a job's record has its steps, but not their origin
    view.used_by = jobs_with(state, viewer, version->asset);
  return AssetReply{std::move(view)};
}

ClientReply list_assets(const State& state, const Caller& caller, const ListAssets& question) {
  const Viewer viewer(state, caller);
  const auto is_wanted = [&](const AssetVersion& version) {
    return question.archived == ArchivedToo::yes ||
           version.archived == (question.archived == ArchivedToo::only);
  };
  Page page;
  const auto add = [&](const AssetName& name, bool all) {
    const OwnedName& rights = owned(state, name.versions.front().asset);
    for (auto it = name.versions.rbegin(); it != name.versions.rend(); ++it) {
      if (!is_wanted(*it) || (!all && !counts(it->foreign, it->by, rights))) continue;
      page.add(view_of(state, viewer, name, *it));
      if (!all) return;
    }
  };
  if (!question.name.empty()) {
    const AssetName* known = seen_asset(state, caller, question.kind, question.name);
    if (known == nullptr)
      return refused(no_such_asset(state, caller, question.kind, question.name));
    add(*known, true);
    return std::move(page.reply);
  }
  for (const auto& [key, name] : state.assets().names())
    if (key.first == question.kind && may_see(state.principals(), caller, name)) add(name, false);
  return std::move(page.reply);
}

}  // namespace lockstep::launcher
