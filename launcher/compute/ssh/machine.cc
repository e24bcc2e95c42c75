#include "launcher/compute/ssh/machine.h"

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <optional>

#include "common/base/digest.h"
#include "common/io/process.h"
#include "common/wire/join_token.h"
#include "launcher/compute/ssh/tunnel.h"

namespace lockstep::compute::ssh {
namespace {

constexpr std::int64_t kLeastFreeKib = 400 * 1024;  // room for the archive and its contents
constexpr std::int64_t kClockTolerance = 30;        // in seconds
constexpr Duration kProbeTimeout = seconds(60);
constexpr Duration kCopyTimeout = minutes(15);
constexpr Duration kStartTimeout = seconds(120);

Failed failed(const std::string& step, Failure code, std::string message) {
  return Failed{step, code, std::move(message)};
}

// Names of nodes may not have ':', but IPv6 addresses do.
std::string node_name(std::string name) {
  std::replace(name.begin(), name.end(), ':', '-');
  return name;
}

}  // namespace

Install install_of(const Call& call, const Host& host) {
  const std::string scope = call.request.launcher + "-" + call.request.target;
  Install install;
  install.tag = call.request.launcher + " " + call.request.target + " " + host.name;
  install.directory = host.directory;
  install.folder = "node-" + scope;
  install.name = node_name(host.name);
  install.bundle = call.bundle_digest;
  install.share = call.share;
  // Two machines of a target may be one host with two directories, so the unit's name has the tag's
  // digest.
  install.unit =
      fmt::format("lockstep-{}-{}.service", scope, sha256(install.tag).hex().substr(0, 8));
  return install;
}

Machine::Machine(const Call& call, const std::string& token, Client& client, Events& events)
    : host_(client.host()),
      call_(call),
      token_(token),
      client_(client),
      events_(events),
      install_(install_of(call, client.host())) {}

Machine::Attempt<void> Machine::check() {
  const auto report = probe(true);
  if (!report) return tl::unexpected(report.error());
  if (auto good = judge(*report, true); !good) return good;
  tell(*report, is_tunnelled(*report));
  return {};
}

Machine::Attempt<void> Machine::list() {
  const auto report = probe(false);
  if (!report) return tl::unexpected(report.error());
  tell(*report, report->count("tunnel") != 0);
  return {};
}

Machine::Attempt<void> Machine::create() {
  auto report = probe(true);
  if (!report) return tl::unexpected(report.error());
  const bool has_bundle = text_of(*report, "bundle") == "bundle-" + install_.bundle;
  if (auto good = judge(*report, !has_bundle); !good) return good;
  const bool tunnelled = is_tunnelled(*report);
  if (!has_bundle) {
    if (auto copied = copy(); !copied) return copied;
  }
  if (!has_bundle || report->count("running") == 0 || !is_connected(*report, tunnelled)) {
    if (auto joined = join(*report, tunnelled); !joined) return joined;
    report = probe(false, "verify");
    if (!report) return tl::unexpected(report.error());
  }
  tell(*report, tunnelled);
  return {};
}

Machine::Attempt<void> Machine::remove() {
  events_.step(host_.name, "remove");
  const auto answer = client_.run("remove", remove_script(install_), kStartTimeout);
  if (!answer) return tl::unexpected(answer.error());
  const Report report = parse_report(answer->text);
  if (const auto foreign = report.find("foreign"); foreign != report.end())
    return tl::unexpected(failed("remove", Failure::conflict,
                                 host_.name + ": " + foreign->second +
                                     " was not created by this launcher, and was not removed"));
  if (report.count("absent") == 0)
    return tl::unexpected(failed("remove", Failure::failed, unreadable(*answer)));
  if (const auto stays = report.find("stays"); stays != report.end())
    return tl::unexpected(failed(
        "remove", Failure::failed,
        fmt::format(
            "{}: {} could not be removed{}", host_.name, stays->second,
            report.count("left") != 0 ? "; these processes still run: " + report.at("left") : "")));
  events_.machine(host_.name, "absent", {});
  return {};
}

std::string Machine::unreadable(const Client::Answer& answer) const {
  std::string last = answer.errors.empty() ? answer.text : answer.errors;
  last.resize(std::min<std::size_t>(last.size(), 300));
  return fmt::format("{}: the shell script stopped before its end: {}", host_.name, last);
}

// Looks at the host. `dials`: if the choice depends on it, the host tries to dial the launcher.
Machine::Attempt<Report> Machine::probe(bool dials, const char* step) {
  events_.step(host_.name, step);
  const bool tries = dials && call_.tunnel == TunnelUse::automatic;
  const auto script =
      probe_script(install_, tries ? call_.request.endpoints : std::optional<Endpoints>());
  const auto answer = client_.run(step, script, kProbeTimeout);
  if (!answer) return tl::unexpected(answer.error());
  Report report = parse_report(answer->text);
  if (report.empty())
    return tl::unexpected(failed(step, Failure::unsupported, unreadable(*answer)));
  return report;
}

// Whether the host reaches the launcher. Another program may listen on the same port of the host's
// own loopback.
bool Machine::dials_launcher(const Report& report) {
  const auto addresses = call_.request.endpoints->all();
  const bool is_here = text_of(report, "host_id") == io::current_host_id();
  if (!is_here && std::any_of(addresses.begin(), addresses.end(), is_loopback)) return false;
  if (text_of(report, "dialled") == "unknown")
    events_.warning(
        host_.name, "check",
        "the host has neither bash nor python3 to test whether it can reach the launcher, so "
        "it gets a tunnel; `tunnel: never` prevents this");
  return number_of(report, "dialled") == kTunnelPorts;
}

// Whether the host uses a tunnel. The choice stays while the agent is connected, and while an
// allowed tunnel exists.
bool Machine::is_tunnelled(const Report& report) {
  const bool has_tunnel = report.count("tunnel") != 0;
  if (report.count("joined") != 0) {
    if (report.count("connected") != 0) return has_tunnel;
    if (has_tunnel) return call_.tunnel != TunnelUse::never;
  }
  switch (call_.tunnel) {
    case TunnelUse::always: return true;
    case TunnelUse::never: return false;
    case TunnelUse::automatic: break;
  }
  return call_.request.endpoints && !dials_launcher(report);
}

Machine::Attempt<void> Machine::judge(const Report& report, bool needs_space) {
  const auto no = [&](Failure code, const std::string& why) {
    return tl::unexpected(failed("check", code, host_.name + ": " + why));
  };
  const std::string system = text_of(report, "system"), cpu = text_of(report, "architecture");
  if (system != "Linux") return no(Failure::unsupported, "it runs " + system + ", not Linux");
  if (cpu != "x86_64")
    return no(Failure::unsupported,
              "its processor is " + cpu + "; the node archive is for x86_64 only");
  if (const std::string missing = text_of(report, "missing"); !missing.empty())
    return no(Failure::unsupported, "it has no " + missing + "; install it on the host");
  const std::string tag = text_of(report, "tag");
  if (!tag.empty() && tag != install_.tag)
    return no(Failure::conflict, text_of(report, "directory") + " is already in use" +
                                     (tag == "-" ? std::string() : " (" + tag + ")"));
  if (const std::string folder = text_of(report, "changeable"); !folder.empty())
    return no(Failure::conflict,
              fmt::format("other accounts of the host can change {}, and with it the agent that "
                          "is to be installed in {}; set `directory` to a folder that belongs to "
                          "the ssh account, below folders that others may not write to",
                          folder, text_of(report, "directory")));
  const std::string writable = text_of(report, "writable");
  if (writable != "yes")
    return no(Failure::no_permission,
              "the ssh account cannot write to " +
                  writable.substr(std::min<std::size_t>(3, writable.size())) +
                  "; set `directory` to a folder that this account owns");
  const std::int64_t free = number_of(report, "free_kib");
  if (needs_space && free >= 0 && free < kLeastFreeKib)
    return no(Failure::no_space,
              fmt::format("{} MiB are free for {}, but {} MiB are needed", free / 1024,
                          text_of(report, "directory"), kLeastFreeKib / 1024));
  const std::int64_t clock = number_of(report, "clock");
  const std::int64_t ahead = clock - std::time(nullptr);
  if (clock > 0 && std::abs(ahead) > kClockTolerance)
    events_.warning(host_.name, "check",
                    fmt::format("its clock is {} s {} this machine's", std::abs(ahead),
                                ahead > 0 ? "ahead of" : "behind"));
  return {};
}

Machine::Attempt<void> Machine::copy() {
  events_.step(host_.name, "copy");
  const io::Fd archive(::open(call_.request.bundle.c_str(), O_RDONLY | O_CLOEXEC));
  if (!archive)
    return tl::unexpected(failed("copy", Failure::failed, "cannot read " + call_.request.bundle));
  const auto answer = client_.send("copy", unpack_command(install_), archive.get(), kCopyTimeout);
  if (!answer) return tl::unexpected(answer.error());
  if (answer->exit_code == 0) return {};
  const bool full = answer->errors.find("No space left") != std::string::npos;
  const bool denied = answer->errors.find("Permission denied") != std::string::npos;
  return tl::unexpected(failed("copy",
                               full     ? Failure::no_space
                               : denied ? Failure::no_permission
                                        : Failure::unsupported,
                               unreadable(*answer)));
}

// Whether its agent was started with another part of the machine.
bool Machine::is_divided_otherwise(const Report& report) const {
  const std::string share = text_of(report, "share");
  return (share.empty() ? "all" : share) != words_of_share(install_);
}

// Whether it is connected to where the launcher is now. Without `endpoints`, any address counts.
bool Machine::is_connected(const Report& report, bool tunnelled) const {
  const std::string at = text_of(report, "connected");
  if (at.empty() || is_divided_otherwise(report)) return false;
  if (!call_.request.endpoints) return true;
  const auto port = static_cast<int>(number_of(report, "tunnel"));
  return at == (tunnelled ? to_endpoint({"127.0.0.1", port})
                          : to_endpoint(call_.request.endpoints->control));
}

// Waits until the agent has joined. This call keeps the tunnel open until `hold` has it. If `hold`
// runs already, the tunnel is up, or will be.
Machine::Attempt<void> Machine::join(const Report& report, bool tunnelled) {
  const bool has_joined = report.count("joined") != 0, had_tunnel = report.count("tunnel") != 0;
  const bool divides = is_divided_otherwise(report);
  if (!tunnelled) return start(0, divides || (has_joined && had_tunnel));
  if (has_joined && had_tunnel)
    return start(static_cast<int>(number_of(report, "tunnel")), divides);
  events_.step(host_.name, "tunnel");
  if (!call_.request.local)
    return tl::unexpected(failed("tunnel", Failure::failed,
                                 host_.name + " needs a tunnel, but the request has no endpoints"));
  const auto lock = lock_tunnel(call_.request.state, host_.name);
  if (!lock) return tl::unexpected(failed("tunnel", Failure::failed, lock.error().message));
  if (!*lock)
    return tl::unexpected(failed("tunnel", Failure::conflict,
                                 host_.name + ": another call is opening its tunnel; try again"));
  const auto port = open_tunnel(client_, install_, *call_.request.local, true);
  if (!port) return tl::unexpected(port.error());
  return start(*port, has_joined);
}

Result<Start> Machine::how_to_start(int port) const {
  Start start;
  start.tunnelled = port != 0;
  if (port != 0)
    start.control = to_endpoint({"127.0.0.1", port});
  else if (call_.request.endpoints)
    start.control = to_endpoint(call_.request.endpoints->control);
  if (token_.empty()) return start;
  TRY_ASSIGN(start.token, port != 0 ? token_through(token_, port) : Result<std::string>(token_));
  TRY_ASSIGN(const wire::JoinToken token, wire::decode_join_token(start.token));
  TRY_ASSIGN(const Address control, address_from(token.control_endpoint));
  start.control = to_endpoint(control);
  return start;
}

Machine::Attempt<void> Machine::start(int port, bool restarts) {
  events_.step(host_.name, "start");
  auto found = how_to_start(port);
  if (!found) return tl::unexpected(failed("start", Failure::failed, found.error().message));
  Start& how = *found;
  how.restarts = restarts;
  const auto answer = client_.run("start", start_script(install_, how), kStartTimeout);
  if (!answer) return tl::unexpected(answer.error());
  const Report report = parse_report(answer->text);
  if (const auto why = report.find("unsupervised"); why != report.end())
    events_.warning(host_.name, "start",
                    "systemd there did not start the agent (" + why->second +
                        "); a shell script keeps it running, until the host is rebooted");
  const std::string at = text_of(report, "connected");
  if (!at.empty() && (how.control.empty() || at == how.control)) return {};
  if (report.count("why") == 0)
    return tl::unexpected(failed("start", Failure::failed, unreadable(*answer)));
  const std::string what =
      report.count("joined") == 0 ? "its agent has not joined the launcher"
      : at.empty() ? "its agent has joined, but does not reach the launcher at " + how.control
                   : "its agent does not reach the launcher at " + how.control +
                         ", and is connected to the one at " + at;
  // the launcher's text for this, in shared_machine.cc
  const bool is_twice = report.at("why").find("a machine is attached once") != std::string::npos;
  return tl::unexpected(failed("start",
                               is_twice ? Failure::conflict : Failure::launcher_unreachable,
                               fmt::format("{}: {}: {}", host_.name, what, report.at("why"))));
}

void Machine::tell(const Report& report, bool tunnelled) {
  About about;
  for (const char* key :
       {"architecture", "kernel", "directory", "bundle", "clock", "free_kib", "supervisor"})
    if (const std::string value = text_of(report, key); !value.empty())
      about.emplace_back(key, value);
  // The host has an identity, and the launcher has accepted its session.
  const std::string at = text_of(report, "connected");
  if (report.count("joined") != 0) about.emplace_back("joined", at.empty() ? "no" : "yes");
  if (!at.empty()) about.emplace_back("connected", at);
  about.emplace_back("tunnel", tunnelled);
  const bool installed = text_of(report, "tag") == install_.tag;
  events_.machine(host_.name,
                  !installed                     ? "absent"
                  : report.count("running") != 0 ? "running"
                                                 : "stopped",
                  about);
}

}  // namespace lockstep::compute::ssh
