#include "runner/probe/candidates.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <set>
#include <string_view>

#include "common/base/digest.h"

namespace lockstep::runner {
namespace {

std::optional<int> small_number(std::string_view text, int most) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > most)
    return std::nullopt;
  return value;
}

std::optional<std::uint32_t> dotted(std::string_view text) {
  std::uint32_t bits = 0;
  for (int part = 0; part < 4; ++part) {
    const std::size_t dot = part < 3 ? text.find('.') : text.size();
    if (dot == std::string_view::npos) return std::nullopt;
    const auto number = small_number(text.substr(0, dot), 255);
    if (!number) return std::nullopt;
    bits = bits << 8 | static_cast<std::uint32_t>(*number);
    text.remove_prefix(std::min(dot + 1, text.size()));
  }
  return text.empty() ? std::optional(bits) : std::nullopt;
}

bool is_link_local(const LocalAddress& local) { return local.address.starts_with("169.254."); }

bool is_named(const LocalAddress& local, const std::string& name) {
  return local.interface == name;
}

// Only those that `matches`; false: none does, and all stay.
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
    return std::any_of(chosen.networks.begin(), chosen.networks.end(),
                       [&](const auto& network) { return is_in_network(each.address, network); });
  });
}

}  // namespace

bool is_ipv4(const std::string& text) { return dotted(text).has_value(); }

bool is_in_network(const std::string& address, const std::string& network) {
  const std::size_t slash = network.find('/');
  if (slash == std::string::npos) return address == network;
  const auto bits = small_number(std::string_view(network).substr(slash + 1), 32);
  const auto ours = dotted(address);
  const auto theirs = dotted(std::string_view(network).substr(0, slash));
  if (!bits || !ours || !theirs) return false;
  return *bits == 0 || (*ours ^ *theirs) >> (32 - *bits) == 0;
}

std::vector<ProbeCandidate> candidates_of(const std::vector<LocalAddress>& addresses,
                                          const std::string& known,
                                          const std::optional<OperatorInterface>& chosen) {
  std::vector<LocalAddress> usable;
  for (const LocalAddress& each : addresses)
    if (each.running && !each.loopback && dotted(each.address)) usable.push_back(each);
  keep_only(usable, [](const LocalAddress& each) { return !is_link_local(each); });
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
