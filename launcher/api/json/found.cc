#include "launcher/api/json/found.h"

#include "launcher/api/json/value.h"
#include "launcher/words/found/say_found.h"
#include "launcher/words/found/say_path.h"

namespace lockstep::api {

namespace {

Json found_rank_json(const FoundRank& rank, const words::About& about) {
  return {{"rank", rank.rank},
          {"node_name", words::node_name(about, rank.node_rank)},
          {"doing", rank.doing},
          {"call", text_or_null(rank.call)},
          {"on", text_or_null(rank.on)},
          {"at", text_or_null(rank.at)},
          {"cpus", static_cast<double>(rank.cpu_milli) / 1000.0}};
}

Json path_failure_json(const PathFailure& failure, const words::About& about) {
  const words::Said said = words::say(failure, about);
  return {{"from", words::node_name(about, failure.from)},
          {"to", words::node_name(about, failure.to)},
          {"from_address", text_or_null(failure.from_address)},
          {"from_interface", text_or_null(failure.from_interface)},
          {"to_address", text_or_null(failure.to_address)},
          {"port", failure.port == 0 ? Json(nullptr) : Json(failure.port)},
          {"trouble", std::string(to_string(failure.trouble))},
          {"mtu", failure.mtu == 0 ? Json(nullptr) : Json(failure.mtu)},
          {"text", said.what},
          {"remedy", text_or_null(said.remedy)}};
}

Json chosen_json(const ChosenPath& path, const words::About& about) {
  return {{"node_name", words::node_name(about, path.node_rank)},
          {"interface", path.interface},
          {"address", path.address},
          {"round_trip",
           path.round_trip == Duration::zero() ? Json(nullptr) : seconds_of(path.round_trip)},
          {"mbps", path.speed_mbps < 0 ? Json(nullptr) : Json(path.speed_mbps)},
          {"mtu", path.mtu == 0 ? Json(nullptr) : Json(path.mtu)}};
}

}  // namespace

Json found_json(const Found& found, const words::About& about) {
  const words::Said said = words::say(found, about);
  Json ranks = Json::array();
  for (const FoundRank& rank : found.ranks) ranks.push_back(found_rank_json(rank, about));
  return {{"kind", std::string(to_string(found.kind))},
          {"verdict", std::string(to_string(found.verdict))},
          {"text", said.what},
          {"remedy", text_or_null(said.remedy)},
          {"since", time_or_null(found.since)},
          {"seconds", seconds_of(std::chrono::floor<milliseconds>(found.lasting))},
          {"ranks", std::move(ranks)},
          {"waiting", found.waiting},
          {"fact", text_or_null(found.fact)},
          {"here", found.here},
          {"elsewhere", found.elsewhere}};
}

Json found_list_json(const FoundList& found, const words::About& about) {
  Json list = Json::array();
  for (const Found& one : found) list.push_back(found_json(one, about));
  return list;
}

Json probe_json(const ProbeResult& probe, const words::About& about) {
  Json chosen = Json::array(), failures = Json::array();
  for (const ChosenPath& path : probe.chosen) chosen.push_back(chosen_json(path, about));
  for (const PathFailure& one : probe.failures) failures.push_back(path_failure_json(one, about));
  return {{"broken", probe.broken},
          {"cached", probe.cached},
          {"chosen", std::move(chosen)},
          {"failures", std::move(failures)}};
}

Json settings_json(const NetworkSettings& settings) {
  Json list = Json::array();
  for (const NetworkSetting& setting : settings)
    list.push_back({{"name", setting.name},
                    {"value", setting.value},
                    {"source", std::string(to_string(setting.source))},
                    {"reason", setting.reason},
                    {"warning", text_or_null(setting.warning)}});
  return list;
}

// A whole view has its parts by node rank, so that a name is mostly found at its place.
words::About names_in(const std::string& job, const AttemptView& attempt) {
  return {job, [&parts = attempt.parts](int node_rank) {
            const auto place = static_cast<std::size_t>(node_rank);
            if (place < parts.size() && parts[place].node_rank == node_rank)
              return parts[place].node_name;
            for (const PartView& part : parts)
              if (part.node_rank == node_rank) return part.node_name;
            return std::string();
          }};
}

}  // namespace lockstep::api
