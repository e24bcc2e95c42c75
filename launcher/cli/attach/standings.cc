#include "launcher/cli/attach/standings.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "common/base/cut.h"

namespace lockstep::cli {

namespace {

constexpr std::size_t kMostTextBytes = 256;
constexpr std::size_t kMostCounts = 32;
constexpr std::size_t kMostInTable = 64;
constexpr std::string_view kColumns =
    "(FOR: it has done that so long; NO PROGRESS: nothing of it has moved so long: output, traffic "
    "with\n other ranks, files, memory, collectives; CPUS: how many it uses; CODE: the line of its "
    "own code, and\n the call of a library that it is in)\n";

class Reader {
 public:
  explicit Reader(const nlohmann::json& object) : object_(object) {}

  std::string text(const char* key) const {
    const auto found = object_.find(key);
    if (found == object_.end() || !found->is_string()) return "";
    return cut(found->get<std::string>(), kMostTextBytes);
  }
  std::int64_t number(const char* key) const {
    const auto found = object_.find(key);
    return found != object_.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
  }
  int small(const char* key) const {
    return static_cast<int>(std::clamp<std::int64_t>(number(key), 0, INT32_MAX));
  }
  double real(const char* key) const {
    constexpr double kMost = 1e12;
    const auto found = object_.find(key);
    return found != object_.end() && found->is_number()
               ? std::clamp(found->get<double>(), 0.0, kMost)
               : 0;
  }
  bool flag(const char* key) const {
    const auto found = object_.find(key);
    return found != object_.end() && found->is_boolean() && found->get<bool>();
  }
  const nlohmann::json& object() const { return object_; }

 private:
  const nlohmann::json& object_;
};

std::vector<ShownStanding::Count> counts_in(const nlohmann::json& object) {
  std::vector<ShownStanding::Count> counts;
  const auto list = object.find("collectives");
  if (list == object.end() || !list->is_array()) return counts;
  for (const nlohmann::json& one : *list) {
    if (!one.is_object() || counts.size() == kMostCounts) continue;
    const Reader read(one);
    counts.push_back({read.text("communicator"), read.text("name"), read.number("count")});
  }
  return counts;
}

ShownStanding standing_in(int rank, const std::string& node_name, const nlohmann::json& object) {
  const Reader read(object);
  ShownStanding standing;
  standing.rank = rank;
  standing.node_name = node_name;
  standing.doing = read.text("doing");
  standing.call = read.text("call");
  standing.on = read.text("on");
  standing.at = read.text("at");
  standing.within = read.text("within");
  standing.still = read.real("still");
  standing.doing_for = read.real("doing_for");
  standing.cpus = read.real("cpus");
  standing.pid = read.small("pid");
  standing.processes = read.small("processes");
  standing.threads = read.small("threads");
  standing.threads_running = read.small("threads_running");
  standing.threads_in_device = read.small("threads_in_device");
  standing.claims = read.small("claims");
  standing.exit_code = read.small("exit_code");
  standing.connected = read.flag("connected");
  standing.finalized = read.flag("finalized");
  standing.in_fence = read.flag("in_fence");
  standing.fences = read.number("fences");
  standing.peer_sockets = read.number("peer_sockets");
  standing.acked = read.number("acked");
  standing.received = read.number("received");
  standing.unacked = read.number("unacked");
  standing.retransmits = read.number("retransmits");
  standing.logged = read.number("logged");
  standing.collectives = counts_in(object);
  standing.mpi = read.text("mpi");
  standing.nccl = read.text("nccl");
  standing.torch = read.text("torch");
  return standing;
}

std::string call_of(const ShownStanding& standing) {
  if (standing.call.empty()) return "-";
  return standing.call + "()" + (standing.on.empty() ? "" : " on " + standing.on);
}

std::string place_of(const ShownStanding& standing) {
  if (standing.at.empty()) return standing.within.empty() ? "-" : standing.within;
  return standing.within.empty() ? standing.at : standing.at + " (" + standing.within + ")";
}

}  // namespace

std::vector<ShownStanding> take_standings(const std::string& node_name,
                                          const std::vector<int>& ranks, std::string* lines) {
  std::vector<ShownStanding> standings;
  std::set<int> wanted(ranks.begin(), ranks.end());
  std::string rest;
  std::string_view left = *lines;
  while (!left.empty()) {
    const auto end = left.find('\n');
    const std::string_view line = left.substr(0, end);
    left = end == std::string_view::npos ? std::string_view() : left.substr(end + 1);
    // Lines with stacks are many and long. Only short lines can be standings.
    const auto json =
        line.size() <= 64u << 10 ? nlohmann::json::parse(line, nullptr, false) : nlohmann::json();
    const bool is_standing = json.is_object() && json.contains("rank") &&
                             json["rank"].is_number_integer() && json.contains("standing") &&
                             json["standing"].is_object();
    if (!is_standing) {
      rest.append(line).append("\n");
      continue;
    }
    const auto rank = json["rank"].get<std::int64_t>();
    if (rank < 0 || rank > INT32_MAX || wanted.erase(static_cast<int>(rank)) == 0) continue;
    standings.push_back(standing_in(static_cast<int>(rank), node_name, json["standing"]));
  }
  *lines = std::move(rest);
  return standings;
}

Json to_json(const ShownStanding& standing) {
  const auto text = [](const std::string& words) { return words.empty() ? Json() : Json(words); };
  Json collectives = Json::array();
  for (const ShownStanding::Count& one : standing.collectives)
    collectives.push_back(
        {{"communicator", one.communicator}, {"name", one.name}, {"count", one.count}});
  return {{"rank", standing.rank},
          {"node_name", standing.node_name},
          {"doing", standing.doing},
          {"call", text(standing.call)},
          {"on", text(standing.on)},
          {"at", text(standing.at)},
          {"within", text(standing.within)},
          {"still", standing.still},
          {"doing_for", standing.doing_for},
          {"cpus", standing.cpus},
          {"pid", standing.pid},
          {"processes", standing.processes},
          {"threads", standing.threads},
          {"threads_running", standing.threads_running},
          {"threads_in_device", standing.threads_in_device},
          {"connected", standing.connected},
          {"finalized", standing.finalized},
          {"fences", standing.fences},
          {"in_fence", standing.in_fence},
          {"claims", standing.claims},
          {"exit_code", standing.doing == "exited" ? Json(standing.exit_code) : Json()},
          {"peer_sockets", standing.peer_sockets},
          {"acked", standing.acked},
          {"received", standing.received},
          {"unacked", standing.unacked},
          {"retransmits", standing.retransmits},
          {"logged", standing.logged},
          {"collectives", std::move(collectives)},
          {"mpi", text(standing.mpi)},
          {"nccl", text(standing.nccl)},
          {"torch", text(standing.torch)}};
}

std::string standings_table(const std::vector<ShownStanding>& standings) {
  std::vector<ShownStanding> shown = standings;
  if (shown.size() > kMostInTable) {
    std::stable_sort(
        shown.begin(), shown.end(),
        [](const ShownStanding& a, const ShownStanding& b) { return a.still > b.still; });
    shown.resize(kMostInTable);
  }
  Table table({"RANK", "NODE", "DOES", "FOR", "NO PROGRESS", "CPUS", "SYSTEM CALL", "CODE"});
  for (const ShownStanding& one : shown)
    table.add({std::to_string(one.rank), one.node_name, one.doing,
               fmt::format("{:.0f}s", one.doing_for), fmt::format("{:.0f}s", one.still),
               fmt::format("{:.2f}", one.cpus), call_of(one), place_of(one)});
  std::string text = table.text() + std::string(kColumns);
  if (standings.size() > kMostInTable)
    text += fmt::format("and {} more ranks, which moved later; -o json shows all\n",
                        standings.size() - kMostInTable);
  return text;
}

}  // namespace lockstep::cli
