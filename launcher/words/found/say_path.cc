#include "launcher/words/found/say_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace lockstep::words {

namespace {

std::string what_failed(const PathFailure& failure) {
  if (failure.trouble != PathTrouble::large_packets_lost)
    return std::string(to_string(failure.trouble));
  if (failure.mtu == 0) return "large packets are lost";
  return "packets above " + std::to_string(failure.mtu) + " bytes are lost";
}

std::string remedy_for(const PathFailure& failure, const std::string& from, const std::string& to) {
  const std::string ways = "TCP from " + from + " to " + failure.to_address;
  switch (failure.trouble) {
    case PathTrouble::no_route:
      return "check that both are on one network, and the route on " + from + ": ip route get " +
             failure.to_address;
    case PathTrouble::refused:
      return "a firewall rejects it, or another machine has that address; allow " + ways +
             " on all ports, since ranks choose theirs";
    case PathTrouble::timed_out:
      return "a firewall on the way drops it, or " + to + " has no way back; allow " + ways +
             " on all ports, since ranks choose theirs";
    case PathTrouble::large_packets_lost: break;
  }
  const std::string mtu = failure.mtu == 0 ? "a smaller one" : std::to_string(failure.mtu);
  const std::string ours = failure.from_interface.empty()
                               ? "the interface with " + failure.from_address
                               : failure.from_interface;
  return "set the MTU of " + ours + " on " + from + ", and of the interface with " +
         failure.to_address + " on " + to + ", to " + mtu +
         " (ip link set dev NAME mtu BYTES), or let ICMP \"fragmentation needed\" pass between "
         "them";
}

}  // namespace

Said path_said(const PathFailure& failure, std::string_view from_name, std::string_view to_name) {
  const std::string from(from_name), to(to_name);
  std::string place = failure.from_address;
  if (!place.empty() && !failure.from_interface.empty()) place += ", ";
  place += failure.from_interface;
  std::string what = from + (place.empty() ? "" : " (" + place + ")") + " cannot reach " + to;
  if (!failure.to_address.empty()) what += " (" + failure.to_address + ")";
  if (failure.port != 0) what += " port " + std::to_string(failure.port);
  return {what + ": " + what_failed(failure), remedy_for(failure, from, to)};
}

Said say(const PathFailure& failure, const About& about) {
  PathFailure printable = failure;
  for (std::string* each :
       {&printable.from_address, &printable.from_interface, &printable.to_address})
    *each = shown(*each);
  return path_said(printable, node_name(about, failure.from), node_name(about, failure.to));
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
