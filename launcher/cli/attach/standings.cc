#include "launcher/cli/attach/standings.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "common/base/cut.h"
#include "launcher/cli/terminal/output.h"

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

void keys(const ShownStanding::Count& one, api::See& see) {
  see("communicator", one.communicator, "The communicator.");
  see("name", one.name, "The collective.");
  see("count", one.count, "How often.", api::kAnyNumber);
}

// Ranks tell what they like: most numbers may be any.
void keys(const ShownStanding& standing, api::See& see) {
  using api::kAnyNumber, api::unless_empty;
  const bool has_exited = standing.doing == "exited";
  see("rank", standing.rank, "The global rank.");
  see("node_name", standing.node_name, "Its node.");
  see("doing", standing.doing,
      "What it does: `starts`, `computes`, `waits` (for a peer), `reads`, `locks`, `sleeps`, "
      "`serves`, `stopped`, `device`, `exited`.");
  see("call", unless_empty(standing.call),
      "The system call in which it is blocked; null: none, or unknown.");
  see("on", unless_empty(standing.on),
      "What the descriptor of that call is; null: none, or unknown.");
  see("at", unless_empty(standing.at),
      "The top of its stack that is the job's own; null: not asked for, or unknown.");
  see("within", unless_empty(standing.within),
      "The library call around what it does, such as `MPI_Barrier`; null: none, or unknown.");
  see("still", standing.still, "For so many seconds nothing of it has moved.");
  see("doing_for", standing.doing_for, "For so many seconds it has done the same.");
  see("cpus", standing.cpus, "How many cores it uses.");
  see("pid", standing.pid, "The process that `doing` is about, as the ranks see it.", kAnyNumber);
  see("processes", standing.processes, "How many processes it has.", kAnyNumber);
  see("threads", standing.threads, "How many threads these have.", kAnyNumber);
  see("threads_running", standing.threads_running, "Threads that run or are ready to.", kAnyNumber);
  see("threads_in_device", standing.threads_in_device, "Threads that wait in the kernel (state D).",
      kAnyNumber);
  see("connected", standing.connected, "It has connected to its MPI server.");
  see("finalized", standing.finalized, "It has called MPI_Finalize.");
  see("fences", standing.fences, "Fences of all ranks that its node has entered.", kAnyNumber);
  see("in_fence", standing.in_fence, "It is in such a fence.");
  see("claims", standing.claims, "Processes that claim to be this rank.", kAnyNumber);
  see("exit_code", has_exited ? std::optional(standing.exit_code) : std::nullopt,
      "With which code it exited; null: it has not.", kAnyNumber);
  see("peer_sockets", standing.peer_sockets, "Open connections to other ranks.", kAnyNumber);
  see("acked", standing.acked, "Bytes to other ranks that these have acknowledged.", kAnyNumber);
  see("received", standing.received, "Bytes from other ranks.", kAnyNumber);
  see("unacked", standing.unacked, "TCP segments on the way to other ranks.", kAnyNumber);
  see("retransmits", standing.retransmits, "TCP segments that were sent again.", kAnyNumber);
  see("logged", standing.logged, "Bytes that it has written to its log.", kAnyNumber);
  see("collectives", standing.collectives, "How often it has launched a collective, by NCCL.");
  see("mpi", unless_empty(standing.mpi), "The version of its MPI library; null: it has none.");
  see("nccl", unless_empty(standing.nccl), "The version of NCCL; null: it has none.");
  see("torch", unless_empty(standing.torch), "The version of torch; null: it has none.");
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
