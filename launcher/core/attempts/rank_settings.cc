#include "launcher/core/attempts/rank_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/domain/why/jobs/settings.h"

namespace lockstep::launcher {

namespace {

constexpr std::size_t kMostRanksText = 300;

// The known network settings of a node's ranks; null: none are known.
struct KnownSettings {
  const NetworkSettings* first = nullptr;
  const SettingOverrides* others = nullptr;
};

KnownSettings known_of(const Cluster& cluster, const Attempt& attempt, int node_rank) {
  const Part& part = attempt.parts[static_cast<std::size_t>(node_rank)];
  if (const NodeWatch* watch = cluster.watches.find(part.node)) {
    const auto found = watch->settings.find(attempt.id);
    if (found != watch->settings.end()) return {&found->second.first, &found->second.others};
  }
  if (!part.report || part.report->settings.empty()) return {};
  return {&part.report->settings, &part.report->other_settings};
}

NetworkSettings of_local_rank(const KnownSettings& known, int local_rank) {
  std::map<std::string, NetworkSetting> settings;
  for (const NetworkSetting& one : *known.first) settings[one.name] = one;
  for (const SettingOverride& other : *known.others)
    if (std::binary_search(other.local_ranks.begin(), other.local_ranks.end(), local_rank))
      settings[other.setting.name] = other.setting;
  NetworkSettings all;
  for (auto& [name, setting] : settings) all.push_back(std::move(setting));
  return all;
}

// Ranks as ranges: "8-15, 24". A long list ends with "…".
std::string ranges_in(const std::set<int>& ranks) {
  std::string text;
  for (auto at = ranks.begin(); at != ranks.end();) {
    const int first = *at;
    int last = first;
    while (++at != ranks.end() && *at == last + 1) last = *at;
    if (text.size() > kMostRanksText) return text + ", …";
    text += fmt::format("{}{}", text.empty() ? "" : ", ", first);
    if (last > first) text += fmt::format("-{}", last);
  }
  return text;
}

// The different values of one variable, each with one setting that has it and the ranks that share
// it.
class Values {
 public:
  explicit Values(const NetworkSettings& of_rank) {
    for (const NetworkSetting& one : of_rank) own_[one.name] = one.value;
  }
  void add(const KnownSettings& known, int first_rank, int ranks) {
    std::map<std::string, std::set<int>> overridden;
    for (const SettingOverride& other : *known.others)
      for (const int local : other.local_ranks) {
        if (local < 0 || local >= ranks) continue;
        overridden[other.setting.name].insert(local);
        note(other.setting, first_rank + local);
      }
    for (const NetworkSetting& one : *known.first) {
      if (is_own(one)) continue;
      const std::set<int>& others = overridden[one.name];
      for (int local = 0; local < ranks; ++local)
        if (others.count(local) == 0) note(one, first_rank + local);
    }
  }
  void take_into(SettingsView* view) {
    for (auto& [key, found] : found_) {
      view->more = view->elsewhere.size() >= kMaxElsewhere;
      if (view->more) return;
      view->elsewhere.push_back({std::move(found.first), ranges_in(found.second)});
    }
  }

 private:
  bool is_own(const NetworkSetting& one) const {
    const auto own = own_.find(one.name);
    return own != own_.end() && own->second == one.value;
  }
  void note(const NetworkSetting& one, int rank) {
    if (is_own(one)) return;
    const auto [at, is_new] = found_.try_emplace({one.name, one.value});
    if (is_new) at->second.first = one;
    at->second.second.insert(rank);
  }

  std::map<std::string, std::string> own_;
  std::map<std::pair<std::string, std::string>, std::pair<NetworkSetting, std::set<int>>> found_;
};

Why why_absent(const Job& job, int rank) {
  const int world = job.spec.world_size();
  if (job.spec.is_pipeline()) return SettingsOfPipeline{};
  if (rank >= world) return SettingsOfNoRank{world};
  if (job.attempts.empty()) return SettingsBeforePlacement{};
  const Attempt& last = job.attempts.back();
  const bool has_run = std::any_of(last.parts.begin(), last.parts.end(), [](const Part& part) {
    return part.at_least(PartState::running);
  });
  if (!has_run) return SettingsBeforeStart{};
  if (last.parts.size() == 1) return NoSettingsOnOneNode{};
  return NoSettingsReported{};
}

}  // namespace

void take_settings(Context& core, NodeId node, const PartReport& report) {
  if (report.settings.empty()) return;
  NodeWatch::Settings& known = core.watches.at(node).settings[report.attempt];
  if (known.first != report.settings) known.first = report.settings;
  if (known.others != report.other_settings) known.others = report.other_settings;
}

void trim_settings(PartReport& report, const std::optional<PartReport>& known, int node_rank) {
  const bool is_known =
      known && known->settings == report.settings && known->other_settings == report.other_settings;
  if (!is_known && node_rank < kNodesWithSettings) return;
  report.settings.clear();
  report.other_settings.clear();
}

SettingsView settings_of(const Cluster& cluster, const Job& job, int rank) {
  SettingsView view;
  view.rank = rank;
  view.why_absent = why_absent(job, rank);
  if (job.spec.is_pipeline() || job.attempts.empty() || rank >= job.spec.world_size()) return view;
  const Attempt& attempt = job.attempts.back();
  const int node_rank = job.spec.node_of_rank(rank);
  const Part& part = attempt.parts[static_cast<std::size_t>(node_rank)];
  view.node_name = cluster.state.node_name(part.node);
  const KnownSettings here = known_of(cluster, attempt, node_rank);
  if (here.first == nullptr) return view;
  view.why_absent = {};
  view.settings = of_local_rank(here, rank - job.spec.first_rank_on(node_rank));
  Values values(view.settings);
  for (int other = 0; other < attempt.size(); ++other)
    if (const KnownSettings known = known_of(cluster, attempt, other); known.first != nullptr)
      values.add(known, job.spec.first_rank_on(other), job.spec.ranks_on(other));
  values.take_into(&view);
  return view;
}

}  // namespace lockstep::launcher
