#include "launcher/words/path.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::words {

namespace {

// "n1 (10.0.0.4, eth1)".
std::string end_of_path(const std::string& node, const std::string& address,
                        const std::string& interface) {
  if (address.empty() && interface.empty()) return node;
  const std::string_view comma = address.empty() || interface.empty() ? "" : ", ";
  return fmt::format("{} ({}{}{})", node, shown(address), comma, shown(interface));
}

}  // namespace

Said say(const PathFailure& failure, const About& about) {
  const std::string from = node_name(about, failure.from), to = node_name(about, failure.to);
  const std::string address = shown(failure.to_address);
  std::string what = fmt::format(
      "{} cannot reach {}{}: ", end_of_path(from, failure.from_address, failure.from_interface),
      end_of_path(to, failure.to_address, ""),
      failure.port == 0 ? "" : fmt::format(" port {}", failure.port));
  switch (failure.trouble) {
    case PathTrouble::no_route:
      return {what + "no route",
              fmt::format("`ip route get {}` on {} shows which way it tries; give the nodes one "
                          "network, and name it with `lockstep-agent --advertise ADDRESS`",
                          address, from)};
    case PathTrouble::refused:
      return {what + "refused",
              fmt::format("a firewall rejects it, or {} answers for another machine: allow all TCP "
                          "ports between the nodes of a job, and see that the address is {}'s",
                          address, to)};
    case PathTrouble::timed_out:
      return {what + "timed out",
              fmt::format("a firewall between {} and {} drops it: allow all TCP ports between the "
                          "nodes of a job",
                          from, to)};
    case PathTrouble::large_packets_lost:
      what += failure.mtu > 0 ? fmt::format("packets above {} bytes are lost", failure.mtu)
                              : std::string("large packets are lost");
      return {what,
              failure.mtu > 0
                  ? fmt::format("give the nodes the MTU of the path: `ip link set {} mtu {}` on {} "
                                "and {}, or let ICMP \"fragmentation needed\" through",
                                failure.from_interface.empty() ? "INTERFACE"
                                                               : shown(failure.from_interface),
                                failure.mtu, from, to)
                  : std::string("give the nodes the MTU of the path between them, or let ICMP "
                                "\"fragmentation needed\" through")};
  }
  return {what, ""};
}

std::vector<PathFailure> broken_paths(const ProbeResult& probe) {
  const auto count =
      std::min(static_cast<std::size_t>(std::max(probe.broken, 0)), probe.failures.size());
  return {probe.failures.begin(), probe.failures.begin() + static_cast<std::ptrdiff_t>(count)};
}

Said say_all(const std::vector<PathFailure>& failures, const About& about) {
  Said said = say(failures.front(), about);
  if (failures.size() > 1)
    said.what +=
        fmt::format("; and {} more path{} of the gang {}", failures.size() - 1,
                    failures.size() == 2 ? "" : "s", failures.size() == 2 ? "fails" : "fail");
  return said;
}

}  // namespace lockstep::words
