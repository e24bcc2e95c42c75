#include "runner/bootstrap/network_settings.h"

#include <algorithm>

#include "common/fabric/settings.h"
#include "common/io/file_system.h"
#include "runner/bootstrap/network.h"

namespace lockstep::runner {
namespace {

bool has_rdma_device() {
  const auto devices = io::list_directory("/sys/class/infiniband");
  return devices && !devices->empty();
}

// Whether the probe found this node's own interface. It did not if the node took no part, or if its
// address belongs to a router in front of it.
bool has_probed_interface(const GangContext& gang) {
  if (!gang.probe) return false;
  const auto& chosen = gang.probe->chosen;
  return std::any_of(chosen.begin(), chosen.end(), [&](const ChosenPath& path) {
    return path.node_rank == gang.assignment.node_rank && !path.interface.empty();
  });
}

RankPlace place_of(const GangContext& gang) {
  RankPlace place;
  place.node_rank = gang.assignment.node_rank;
  place.gpus = gang.assignment.allotment.gpus;
  place.gang_fabric = gang.gang().fabric;
  if (gang.fabric.interfaces.empty()) place.has_rdma_device = has_rdma_device();
  if (gang.gang().members.size() < 2) return place;
  // The route is looked up only if nothing better is known, since resolving a name may take long.
  if (!has_probed_interface(gang) || !spans_hosts(gang.gang()))
    place.route_interface = gang_interface(gang).value_or("");
  return place;
}

bool is_ours(const NetworkSetting& setting) {
  return setting.source == SettingSource::probe || setting.source == SettingSource::fixed;
}

bool names_interfaces(const std::string& variable) {
  return variable.ends_with("_IFNAME") || variable.ends_with("_IFACE") ||
         variable.ends_with("_if_include");
}

// The interface that Lockstep chose for the rank's other libraries; "": none.
std::string chosen_interface(const NetworkSettings& settings) {
  for (const NetworkSetting& one : settings) {
    if (is_ours(one) && names_interfaces(one.name))
      return one.value.substr(one.value.starts_with('=') ? 1 : 0);
  }
  return "";
}

NetworkSettings settings_at(const GangContext& gang, const RankPlace& place) {
  return settings_for(gang.fabric, gang.probe ? &*gang.probe : nullptr,
                      gang.assignment.operator_settings, gang.assignment.spec, place);
}

}  // namespace

std::vector<NetworkSettings> network_of_ranks(const GangContext& gang) {
  std::vector<NetworkSettings> all;
  RankPlace place = place_of(gang);
  // Settings of ranks differ only if they have different GPUs.
  const int different = place.gpus.empty() ? 1 : gang.assignment.ranks_here();
  for (; place.local_rank < different; ++place.local_rank) all.push_back(settings_at(gang, place));
  return all;
}

std::vector<SettingIsMistaken> notes_of_mistakes(const NetworkSettings& settings) {
  std::vector<NetworkSettings> alike;
  for (const NetworkSetting& one : settings) {
    if (one.warning.empty()) continue;
    const auto same = std::find_if(alike.begin(), alike.end(), [&](const NetworkSettings& others) {
      const NetworkSetting& other = others.front();
      return other.warning == one.warning && other.reason == one.reason &&
             names_interfaces(other.name) == names_interfaces(one.name);
    });
    if (same == alike.end())
      alike.push_back({one});
    else
      same->push_back(one);
  }
  std::vector<SettingIsMistaken> notes;
  const std::string chosen = chosen_interface(settings);
  for (const NetworkSettings& group : alike) {
    SettingIsMistaken& note = notes.emplace_back();
    for (const NetworkSetting& one : group) note.variables.push_back(one.name);
    note.is_ours = is_ours(group.front());
    note.is_interface = names_interfaces(group.front().name);
    if (note.is_interface && !note.is_ours) note.other_interface = chosen;
    note.set_for = group.front().reason;
    note.said = group.front().warning;
  }
  return notes;
}

NetworkSettings network_of_rank(const GangContext& gang, int local_rank) {
  const auto index = static_cast<std::size_t>(local_rank);
  if (gang.network.size() == 1) return gang.network.front();
  if (index < gang.network.size()) return gang.network[index];
  RankPlace place = place_of(gang);
  place.local_rank = local_rank;
  return settings_at(gang, place);
}

}  // namespace lockstep::runner
