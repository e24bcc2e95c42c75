#include "runner/fabric/probe/candidates.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "common/base/digest.h"
#include "common/grammar/ip_network.h"

namespace lockstep::runner {
namespace {

bool is_named(const LocalAddress& local, const std::string& name) {
  return local.interface == name;
}

// Keeps those that match; false: none matches, and all stay.
template <typename Matches>
bool keep_only(std::vector<LocalAddress>& usable, Matches matches) {
  std::vector<LocalAddress> kept;
  std::copy_if(usable.begin(), usable.end(), std::back_inserter(kept), matches);
  if (kept.empty()) return false;
  usable = std::move(kept);
  return true;
}

bool keep_chosen(std::vector<LocalAddress>& usable, const OperatorInterface& chosen) {
  for (const std::string& name : chosen.names)
    if (keep_only(usable, [&](const LocalAddress& each) { return is_named(each, name); }))
      return true;
  return keep_only(usable, [&](const LocalAddress& each) {
    return std::any_of(chosen.networks.begin(), chosen.networks.end(), [&](const auto& text) {
      const auto network = parse_ip_network(text);
      return network && has_address(*network, each.address);
    });
  });
}

}  // namespace

bool is_ipv4(const std::string& text) {
  const auto address = parse_ip_network(text);
  return address && address->is_v4 && text.find('/') == std::string::npos;
}

std::vector<ProbeCandidate> candidates_of(const std::vector<LocalAddress>& addresses,
                                          const std::string& known,
                                          const std::optional<OperatorInterface>& chosen) {
  std::vector<LocalAddress> usable;
  for (const LocalAddress& each : addresses)
    if (each.running && !each.loopback && is_ipv4(each.address)) usable.push_back(each);
  keep_only(usable, [](const LocalAddress& each) { return !is_link_local(each.address); });
  const bool was_chosen = chosen && keep_chosen(usable, *chosen);
  const auto place = [&known](const LocalAddress& each) {
    return each.address == known ? 0 : each.is_virtual ? 2 : 1;
  };
  std::stable_sort(usable.begin(), usable.end(),
                   [&](const auto& a, const auto& b) { return place(a) < place(b); });
  std::vector<ProbeCandidate> candidates;
  const bool is_ours = std::any_of(addresses.begin(), addresses.end(),
                                   [&known](const auto& each) { return each.address == known; });
  if (is_ipv4(known) && !is_ours && !was_chosen && !usable.empty())
    candidates.push_back({"", known, 0});
  std::set<std::string> interfaces;
  for (const LocalAddress& each : usable) {
    if (candidates.size() == kMaxProbeCandidates) break;
    if (!interfaces.insert(each.interface).second) continue;
    candidates.push_back({each.interface, each.address, each.mtu});
  }
  return candidates;
}

std::string fingerprint_of(const std::string& host_id, const std::vector<LocalAddress>& addresses,
                           const std::string& routes) {
  std::string all = host_id;
  all += '\0';
  for (const LocalAddress& each : addresses) {
    if (!each.running || each.loopback) continue;
    all += each.interface + ' ' + each.address + '/' + std::to_string(each.prefix) + ' ' +
           std::to_string(each.mtu) + '\n';
  }
  all += '\0';
  all += routes;
  return std::string(sha256(all).view());
}

}  // namespace lockstep::runner
