#include "common/domain/fabric.h"

#include <algorithm>
#include <array>

namespace lockstep {
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

bool is_network_variable(std::string_view name) {
  constexpr std::array<std::string_view, 19> kPrefixes = {
      "NCCL_",    "UCX_",       "UCC_",   "GLOO_",  "TP_",    "OMPI_MCA_", "PMIX_MCA_",
      "FI_",      "I_MPI_",     "MPICH_", "HCOLL_", "SHARP_", "RDMAV_",    "PRTE_MCA_",
      "NVSHMEM_", "MPIR_CVAR_", "MLX5_",  "MV2_",   "PSM2_"};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::string_view to_string(PathTrouble trouble) {
  switch (trouble) {
    case PathTrouble::no_route: return "no route";
    case PathTrouble::refused: return "refused";
    case PathTrouble::timed_out: return "timed out";
    case PathTrouble::large_packets_lost: return "large packets lost";
  }
  return "timed out";
}

PathFailureWords path_failure_words(const PathFailure& failure, std::string_view from_name,
                                    std::string_view to_name) {
  const std::string from(from_name), to(to_name);
  std::string place = failure.from_address;
  if (!place.empty() && !failure.from_interface.empty()) place += ", ";
  place += failure.from_interface;
  std::string what = from + (place.empty() ? "" : " (" + place + ")") + " cannot reach " + to;
  if (!failure.to_address.empty()) what += " (" + failure.to_address + ")";
  if (failure.port != 0) what += " port " + std::to_string(failure.port);
  return {what + ": " + what_failed(failure), remedy_for(failure, from, to)};
}

std::string path_failure_text(const PathFailure& failure, std::string_view from_name,
                              std::string_view to_name) {
  const PathFailureWords words = path_failure_words(failure, from_name, to_name);
  return words.what + "; " + words.remedy;
}

std::string_view to_string(SettingSource source) {
  switch (source) {
    case SettingSource::user: return "user";
    case SettingSource::operator_file: return "operator";
    case SettingSource::probe: return "probe";
    case SettingSource::fixed: return "fixed";
  }
  return "probe";
}

}  // namespace lockstep
