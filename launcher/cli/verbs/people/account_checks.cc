#include "launcher/cli/verbs/people/account_checks.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "common/io/clock.h"
#include "common/io/file_system.h"
#include "common/io/net/reach.h"
#include "common/io/process.h"
#include "common/io/programs/run_program.h"
#include "launcher/cli/local/launcher.h"
#include "launcher/cli/text/view_text.h"

namespace lockstep::cli {

namespace {

constexpr Duration kProgramTimeout = seconds(10);
constexpr Duration kAnswerTimeout = seconds(5);
constexpr Duration kPortTimeout = seconds(3);
constexpr Duration kSkewAllowed = seconds(5);
constexpr Duration kAliveWithin = seconds(3);  // three heartbeats at lockstepd's default interval

Finding finding(const char* area, std::string check, Verdict verdict, std::string found,
                std::string advice = "") {
  return {area, std::move(check), verdict, std::move(found), std::move(advice)};
}

Finding examine_program(const std::string& name) {
  const auto path = io::find_program(name);
  if (!path)
    return finding("programs", name, Verdict::problem, path.error().message, "install it again");
  const auto answer = io::run_program({*path, "--version"}, kProgramTimeout);
  const std::string said =
      answer ? answer->text.substr(0, answer->text.find('\n')) : answer.error().message;
  if (said == name + " " + LOCKSTEP_VERSION)
    return finding("programs", name, Verdict::ok, *path + ", " + LOCKSTEP_VERSION);
  return finding("programs", name, Verdict::problem,
                 fmt::format("`{} --version` gave '{}', but lockstep has version {}", *path, said,
                             LOCKSTEP_VERSION),
                 "install all of Lockstep's programs together");
}

// Checks a path that only its owner may change.
std::optional<Finding> examine_writers(const std::string& check, const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  const unsigned mode = info.st_mode & 07777;
  if ((mode & S_IWOTH) == 0 && ((mode & S_IWGRP) == 0 || (mode & S_ISVTX) != 0))
    return std::nullopt;
  return finding("user", check, Verdict::problem,
                 fmt::format("{} has mode {:04o}: others may change it", path, mode),
                 "chmod go-w " + path);
}

// Checks a file that only its owner may read.
std::optional<Finding> examine_secret(const std::string& check, const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  if (info.st_uid != ::geteuid())
    return finding("user", check, Verdict::problem,
                   fmt::format("{} belongs to uid {}, not to you", path, info.st_uid),
                   "set LOCKSTEP_HOME to a directory of your own");
  const unsigned mode = info.st_mode & 0777;
  if ((mode & 0077) != 0)
    return finding(
        "user", check, Verdict::problem,
        fmt::format("{} has mode {:04o}: others may read or change it", path, mode),
        "chmod 600 " + path + "; if somebody may have read the file, remove it to get a new one");
  return finding("user", check, Verdict::ok, fmt::format("{}, mode {:04o}", path, mode));
}

Finding launcher(Verdict verdict, std::string check, std::string found, std::string advice = "") {
  return finding("launcher", std::move(check), verdict, std::move(found), std::move(advice));
}

}  // namespace

Findings judge_status(const LauncherStatus& status) {
  Findings found{judge_version(status.version)};
  if (!status.low_reason.empty())
    found.push_back(launcher(Verdict::warning, "disk space", status.low_reason,
                             "free space there, or delete jobs that have ended"));
  const DiskWrites& writes = status.writes;
  if (writes.slow_for != Duration(0) || writes.last_slow != Duration(0))
    found.push_back(launcher(
        Verdict::warning, "disk",
        writes.slow_for != Duration(0)
            ? fmt::format("a write of the journal has taken {} so far",
                          format_duration(writes.slow_for))
            : fmt::format("a write of the journal took {}, until {}",
                          format_duration(writes.last_slow), to_string(writes.last_slow_ended)),
        "requests wait for such writes: put the launcher's home on a faster disk, or find out what "
        "else loads this one"));
  return found;
}

namespace {

// Tries each of the three ports, since a firewall may pass one and block another.
Findings examine_ports(const Endpoint& endpoint) {
  struct Port {
    const std::string& endpoint;
    const char* check;
    const char* used;
  };
  const std::array<Port, 3> ports{{{endpoint.control, "port for requests", "commands"},
                                   {endpoint.bulk, "port for files and logs", "uploads and logs"},
                                   {endpoint.join, "port for joining", "nodes that join"}}};
  Findings found;
  for (const Port& port : ports) {
    if (!port.endpoint.starts_with("tcp://")) continue;
    const std::string trouble = io::dial_trouble(port.endpoint, kPortTimeout);
    if (trouble.empty())
      found.push_back(launcher(Verdict::ok, port.check, port.endpoint + " answers"));
    else
      found.push_back(launcher(
          Verdict::problem, port.check,
          fmt::format("no connection to {}: {}", port.endpoint, trouble),
          fmt::format("{} need it: let firewalls between here and the launcher pass its port and "
                      "the next two",
                      port.used)));
  }
  return found;
}

Findings ask_launcher(const Endpoint& endpoint, const io::KeyPair& keys) {
  hold_interrupts(true);
  const auto connection = Connection::open(endpoint, keys);
  hold_interrupts(false);
  if (!connection) return {launcher(Verdict::problem, "connection", connection.error().message)};
  io::SystemClock clock;
  const Instant asked = clock.now();
  const auto reply = (*connection)->ask_for<NodesReply>(ListNodes{}, kAnswerTimeout);
  if (reply) {
    Findings found{launcher(Verdict::ok, "connection", endpoint.control + " answers")};
    if (const auto status = (*connection)->ask_for<StatusReply>(GetStatus{}, kAnswerTimeout))
      for (Finding& each : judge_status(status->status)) found.push_back(std::move(each));
    found.push_back(judge_nodes(reply->nodes));
    for (Finding& each : judge_reasons(reply->nodes)) found.push_back(std::move(each));
    for (Finding& each : judge_clock(reply->nodes, asked, clock.now()))
      found.push_back(std::move(each));
    return found;
  }
  const bool refused = reply.error().code == ErrorCode::permission_denied;
  return {launcher(Verdict::problem, "connection", endpoint.control + ": " + reply.error().message,
                   refused ? ""
                           : "check that the launcher runs and that firewalls let its port and the "
                             "next two ports pass; `lockstep status` tries again")};
}

}  // namespace

Findings examine_programs() {
  Findings found;
  for (const char* name : {"lockstepd", "lockstep-agent"}) found.push_back(examine_program(name));
  return found;
}

namespace {

// Examines a folder. If it is missing, it can be made if the nearest existing parent can be
// written.
Finding examine_place(const std::string& path) {
  std::string above = path;
  while (above.size() > 1 && !io::exists(above)) {
    const auto slash = above.find_last_not_of('/', above.rfind('/'));
    above = slash == std::string::npos ? "/" : above.substr(0, slash + 1);
  }
  struct stat info {};
  const bool is_folder = ::stat(above.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
  if (is_folder && ::access(above.c_str(), W_OK | X_OK) == 0)
    return finding("user", "home", Verdict::ok,
                   path + " does not exist yet; the first command creates it");
  return finding("user", "home", Verdict::problem,
                 fmt::format("{} does not exist, and you cannot create it in {}", path, above),
                 "set LOCKSTEP_HOME to another directory");
}

// The home of the launcher that wrote this endpoint file, if this account runs it; "": it does not,
// or the file is a copy.
std::string launcher_home_of(const std::string& endpoint) {
  std::error_code failure;
  const auto folder = std::filesystem::absolute(endpoint, failure).parent_path().string();
  struct stat info {};
  const std::string key = folder + "/keys/launcher.key";
  const bool is_ours = !failure && ::stat(key.c_str(), &info) == 0 && info.st_uid == ::geteuid();
  return is_ours ? folder : "";
}

void examine_launcher_home(const std::string& folder, Findings& found) {
  for (const auto& [check, path] : {std::pair{"launcher's key", folder + "/keys/launcher.key"},
                                    {"endpoint", folder + "/endpoint.json"}})
    if (auto secret = examine_secret(check, path)) found.push_back(*std::move(secret));
  for (const auto& [check, path] : {std::pair{"launcher's home", folder},
                                    {"who may use it", folder + "/keys/authorized_users"}})
    if (auto open = examine_writers(check, path)) found.push_back(*std::move(open));
}

}  // namespace

Findings examine_home(const LocalHome& home, const std::string& named) {
  struct stat info {};
  if (::stat(home.path().c_str(), &info) != 0) return {examine_place(home.path())};
  Findings found;
  const bool usable = ::access(home.path().c_str(), R_OK | W_OK | X_OK) == 0;
  found.push_back(finding("user", "home", usable ? Verdict::ok : Verdict::problem,
                          home.path() + (usable ? "" : " is not writable for you"),
                          usable ? "" : "set LOCKSTEP_HOME to another directory"));
  if (auto secret = examine_secret("your key", home.user_key()))
    found.push_back(*std::move(secret));
  if (auto open = examine_writers("home", home.path())) found.push_back(*std::move(open));
  const std::string launcher_home = named.empty() ? home.launcher() : launcher_home_of(named);
  if (!launcher_home.empty()) examine_launcher_home(launcher_home, found);
  if (auto open = named.empty() ? std::nullopt : examine_writers("LOCKSTEP_LAUNCHER", named))
    found.push_back(*std::move(open));
  return found;
}

Findings examine_launcher(const Context& context) {
  std::optional<Endpoint> endpoint = context.find_endpoint();
  if (!context.launcher.empty()) {
    const auto named = read_endpoint(context.launcher);
    if (!named)
      return {launcher(
          Verdict::problem, "endpoint", named.error().message,
          "set LOCKSTEP_LAUNCHER to the endpoint.json of a launcher, or to a copy of this file")};
  } else if (!endpoint) {
    return {launcher(Verdict::ok, "endpoint",
                     "no launcher runs; the first command that needs a launcher starts one")};
  }
  // Keys are made by the first command that needs them, not by one that only checks.
  if (!io::exists(context.home.user_key()))
    return {launcher(Verdict::warning, "your key", "you have no key yet",
                     "`lockstep status` creates the key, and says how an admin adds it")};
  const auto keys = io::load_or_create_key_pair(context.home.user_key());
  if (!keys) return {launcher(Verdict::problem, "your key", keys.error().message)};
  Findings found = examine_ports(*endpoint);
  for (Finding& each : ask_launcher(*endpoint, *keys)) found.push_back(std::move(each));
  return found;
}

Finding judge_version(const std::string& launchers) {
  if (launchers == LOCKSTEP_VERSION)
    return launcher(Verdict::ok, "version", launchers + ", the same as lockstep here");
  return launcher(
      Verdict::warning, "version",
      fmt::format("the launcher has {}, lockstep here has {}", launchers, LOCKSTEP_VERSION),
      "a launcher keeps the version that it was started with: after an update, restart the "
      "launcher (`lockstep down`, `lockstep up`), or install the same version on both sides");
}

Findings judge_reasons(const std::vector<NodeView>& nodes) {
  constexpr std::size_t kMostNamed = 20;
  Findings found;
  std::size_t more = 0;
  for (const NodeView& node : nodes) {
    const bool is_there = node.liveness == Liveness::alive && !node.waits_for_approval;
    if (!is_there || (!node.draining && node.reason.empty())) continue;
    if (found.size() >= kMostNamed) {
      ++more;
      continue;
    }
    found.push_back(
        launcher(Verdict::warning, "node " + node.name,
                 node.reason.empty() ? "takes no new work" : node.reason,
                 node.draining ? fmt::format("`lockstep node resume {}` if that is over", node.name)
                               : fmt::format("`lockstep node show {}` has more", node.name)));
  }
  if (more != 0)
    found.push_back(launcher(Verdict::warning, "nodes",
                             fmt::format("{} more nodes take no new work", more),
                             "`lockstep node list` says why"));
  return found;
}

Finding judge_nodes(const std::vector<NodeView>& nodes) {
  std::string away;
  const auto is_usable = [](const NodeView& node) {
    return node.liveness == Liveness::alive && !node.waits_for_approval;
  };
  for (const NodeView& node : nodes) {
    if (is_usable(node)) continue;
    away += fmt::format("{}{} {}", away.empty() ? "" : ", ", node.name,
                        node.waits_for_approval ? "waits for approval"
                                                : "is " + std::string(to_string(node.liveness)));
  }
  const auto alive = std::count_if(nodes.begin(), nodes.end(), is_usable);
  if (away.empty() && alive > 0)
    return launcher(Verdict::ok, "nodes", fmt::format("{} of {} ALIVE", alive, nodes.size()));
  return launcher(Verdict::warning, "nodes",
                  nodes.empty() ? "there are no nodes: jobs wait"
                                : fmt::format("{} of {} ALIVE: {}", alive, nodes.size(), away),
                  "`lockstep node list` says why; `lockstep up` starts local nodes again; on other "
                  "nodes, start lockstep-agent");
}

Findings judge_clock(const std::vector<NodeView>& nodes, Instant asked, Instant answered) {
  Instant heard;
  for (const NodeView& node : nodes)
    if (node.liveness == Liveness::alive) heard = std::max(heard, node.last_heard);
  Findings found;
  std::string off;
  for (const NodeView& node : nodes)
    if (const std::string trouble = clock_trouble(node); !trouble.empty())
      off += fmt::format("{}{}: {}", off.empty() ? "" : "; ", node.name, trouble);
  const std::string advice =
      "times in lists and logs cannot be compared; let NTP (chrony, timesyncd) set all clocks";
  if (!off.empty()) found.push_back(launcher(Verdict::warning, "node clocks", off, advice));
  if (heard == Instant{}) return found;
  // The launcher read its clock between these two moments, with little tolerance, so a time outside
  // of them is certainly skew.
  const Instant latest = heard + kAliveWithin;
  const Duration ahead = heard - answered, behind = asked - latest;
  const Duration skew = std::max(ahead, behind);
  if (skew <= kSkewAllowed)
    found.push_back(launcher(Verdict::ok, "clock", "agrees with this machine's clock"));
  else
    found.push_back(
        launcher(Verdict::warning, "clock",
                 fmt::format("is at least {} {} this machine's clock", format_duration(skew),
                             ahead > behind ? "ahead of" : "behind"),
                 advice));
  return found;
}

}  // namespace lockstep::cli
