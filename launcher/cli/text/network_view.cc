#include "launcher/cli/text/network_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <vector>

#include "common/base/printable.h"
#include "launcher/api/json/found.h"
#include "launcher/words/found/say_path.h"

namespace lockstep::cli {

namespace {

constexpr std::size_t kMostInterfaces = 4;

// "eth0 on all 3 nodes", "ens5 on n1, data0 on n2 and 61 more".
std::string interfaces_of(const std::vector<ChosenPath>& chosen, std::size_t nodes,
                          const words::About& names) {
  const std::string& first = chosen.front().interface;
  const bool is_one = std::all_of(chosen.begin(), chosen.end(),
                                  [&](const auto& path) { return path.interface == first; });
  const auto shown = [](const ChosenPath& path) {
    return in_one_line(path.interface.empty() ? path.address : path.interface);
  };
  if (is_one && !first.empty() && chosen.size() == nodes)
    return fmt::format("{} on all {} nodes", shown(chosen.front()), nodes);
  std::string text;
  const std::size_t said = std::min(chosen.size(), kMostInterfaces);
  for (std::size_t i = 0; i < said; ++i)
    text += fmt::format("{}{} on {}", i == 0 ? "" : ", ", shown(chosen[i]),
                        words::node_name(names, chosen[i].node_rank));
  if (nodes > said) text += fmt::format(" and {} more", nodes - said);
  return text;
}

template <typename T>
T middle_of(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// A speed in the unit that is usual for links.
std::string speed_of(std::int64_t mbps) {
  return mbps < 1'000 ? fmt::format("{} Mbit/s", mbps)
                      : fmt::format("{:.1f} Gbit/s", static_cast<double>(mbps) / 1'000);
}

std::string measures_of(const std::vector<ChosenPath>& chosen) {
  std::vector<Duration> round_trips;
  std::vector<std::int64_t> speeds;
  for (const ChosenPath& path : chosen) {
    if (path.round_trip > Duration::zero()) round_trips.push_back(path.round_trip);
    if (path.speed_mbps > 0) speeds.push_back(path.speed_mbps);
  }
  std::string text;
  if (!round_trips.empty())
    text += fmt::format(
        "; round trip {:.2f} ms",
        std::chrono::duration<double, std::milli>(middle_of(std::move(round_trips))).count());
  if (!speeds.empty())
    text += fmt::format("{}{}", text.empty() ? "; " : ", ", speed_of(middle_of(std::move(speeds))));
  return text;
}

}  // namespace

std::string network_lines(const std::string& job, const AttemptView& attempt) {
  if (!attempt.probe) return "";
  const ProbeResult& probe = *attempt.probe;
  const words::About names = api::names_in(job, attempt);
  std::string text;
  if (!probe.chosen.empty() && probe.broken == 0)
    text += fmt::format("    network: {}{}{}\n",
                        interfaces_of(probe.chosen, attempt.parts.size(), names),
                        measures_of(probe.chosen), probe.cached ? " (measured earlier)" : "");
  const auto first_unused =
      std::min(static_cast<std::size_t>(std::max(probe.broken, 0)), probe.failures.size());
  if (first_unused < probe.failures.size())
    text += fmt::format("    another network is not used: {}\n",
                        words::say(probe.failures[first_unused], names).what);
  return text;
}

}  // namespace lockstep::cli
