#include "launcher/compute/ssh/tunnel.h"

#include <fmt/format.h>

#include "common/wire/join_token.h"

namespace lockstep::compute::ssh {
namespace {

constexpr Duration kTimeout = seconds(60);
constexpr int kLeastPort = 1'024;
constexpr int kMostPort = 65'535 - kTunnelPorts;

tl::unexpected<Failed> failed(Failure code, const std::string& message) {
  return tl::unexpected(Failed{"tunnel", code, message});
}

tl::expected<Report, Failed> ask(Client& client, const std::string& script) {
  auto answer = client.run("tunnel", script, kTimeout);
  if (!answer) return tl::unexpected(answer.error());
  Report report = parse_report(answer->text);
  if (report.empty())
    return failed(
        Failure::failed,
        client.host().name + ": the shell script about the tunnel did not run to its end");
  return report;
}

}  // namespace

Result<std::optional<io::FileLock>> lock_tunnel(const std::string& state,
                                                const std::string& machine) {
  return io::FileLock::try_acquire(fmt::format("{}/tunnel-{}.lock", state, machine));
}

tl::expected<int, Failed> open_tunnel(Client& client, const Install& install,
                                      const Endpoints& launcher, bool chooses) {
  const std::string& name = client.host().name;
  const auto found = ask(client, tunnel_script(install, chooses));
  if (!found) return tl::unexpected(found.error());
  if (found->count("absent") != 0)
    return failed(Failure::failed, name + ": nothing of this target is installed there");
  if (found->count("port") == 0) {
    if (chooses) return failed(Failure::conflict, name + " has no three free ports in a row");
    return 0;
  }
  const std::int64_t port = number_of(*found, "port");
  if (port < kLeastPort || port > kMostPort)
    return failed(Failure::failed, name + ": the tunnel's port there is no port");
  const int first = static_cast<int>(port);
  const auto before = ask(client, tunnel_ports_script(first));
  if (!before) return tl::unexpected(before.error());
  if (before->count("bound") != 0)
    return failed(
        Failure::conflict,
        fmt::format("{}: another program there listens on the tunnel's port {}; end it, or "
                    "remove the machine and create it again",
                    name, text_of(*before, "bound")));
  if (auto done = client.forward("tunnel", first, launcher.all()); !done) {
    done.error().message += "; its sshd may say AllowTcpForwarding no";
    return tl::unexpected(done.error());
  }
  const auto after = ask(client, tunnel_ports_script(first));
  if (!after) return tl::unexpected(after.error());
  if (after->count("open") != 0)
    return failed(Failure::unsupported,
                  name +
                      ": its sshd opens forwarded ports to all hosts; set GatewayPorts there to no "
                      "or clientspecified");
  return first;
}

Result<std::string> token_through(const std::string& token, int port) {
  TRY_ASSIGN(wire::JoinToken changed, wire::decode_join_token(token));
  const auto at = [&](int step) { return to_endpoint({"127.0.0.1", port + step}); };
  changed.control_endpoint = at(0);
  changed.bulk_endpoint = at(1);
  changed.join_endpoint = at(2);
  return wire::encode(changed);
}

}  // namespace lockstep::compute::ssh
