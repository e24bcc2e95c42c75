#include "common/wire/runners/probe_codec.h"

#include <algorithm>

#include "common/domain/job/spec.h"
#include "common/wire/targets/fabric_codec.h"

namespace lockstep::pb {
namespace {

constexpr int kMaxMtu = 1 << 20;
constexpr std::int64_t kMaxSpeedMbps = std::int64_t{1} << 40;

Status read_probe_node(int value, const char* field, int* out) {
  return read_number(value, 0, kMaxNodesPerJob - 1, field, out);
}
Status read_probe_text(const std::string& value, const char* field, std::string* out) {
  return read_text(value, field, out, kMaxFabricTextBytes);
}

}  // namespace

// ---- candidates, peers and paths ---------------------------------------------------------------

void to_wire(const lockstep::ProbeCandidate& from, ProbeCandidate* to) {
  to->set_interface(from.interface);
  to->set_address(from.address);
  to->set_mtu(std::clamp(from.mtu, 0, kMaxMtu));
}
Status from_wire(const ProbeCandidate& from, lockstep::ProbeCandidate* to) {
  TRY(read_probe_text(from.interface(), "probe.interface", &to->interface));
  TRY(read_probe_text(from.address(), "probe.address", &to->address));
  return read_number(from.mtu(), 0, kMaxMtu, "probe.mtu", &to->mtu);
}

void to_wire(const lockstep::ProbePeer& from, ProbePeer* to) {
  to_wire(from.offer, to->mutable_offer());
  to->set_tested(from.tested);
  to->set_burst(from.burst);
}
Status from_wire(const ProbePeer& from, lockstep::ProbePeer* to) {
  TRY(from_wire(from.offer(), &to->offer));
  to->tested = from.tested();
  to->burst = from.burst();
  return {};
}

void to_wire(const lockstep::PathFinding& from, PathFinding* to) {
  to->set_peer(from.peer);
  to->set_candidate(from.candidate);
  to->set_port(from.port);
  to->set_source(from.source + 1);
  to->set_from_address(from.from_address);
  to->set_state(wire_enum<int>(from.state));
  to->set_round_trip_ns(from.round_trip.count());
  to->set_speed_mbps(from.speed_mbps);
  to->set_mtu(std::clamp(from.mtu, 0, kMaxMtu));
}
Status from_wire(const PathFinding& from, lockstep::PathFinding* to) {
  constexpr int kLastCandidate = static_cast<int>(kMaxProbeCandidates) - 1;
  TRY(read_probe_node(from.peer(), "path.peer", &to->peer));
  TRY(read_number(from.candidate(), 0, kLastCandidate, "path.candidate", &to->candidate));
  TRY(read_port(from.port(), "path.port", &to->port));
  TRY(read_number(std::int64_t{from.source()} - 1, -1, kLastCandidate, "path.source", &to->source));
  TRY(read_probe_text(from.from_address(), "path.from_address", &to->from_address));
  TRY(read_enum(from.state(), PathState::other_host, "path.state", &to->state));
  TRY(read_duration(from.round_trip_ns(), "path.round_trip", &to->round_trip));
  if (from.speed_mbps() < -1 || from.speed_mbps() > kMaxSpeedMbps)
    return bad_field("path.speed_mbps", "is outside its range");
  to->speed_mbps = from.speed_mbps();
  return read_number(from.mtu(), 0, kMaxMtu, "path.mtu", &to->mtu);
}

// ---- messages ----------------------------------------------------------------------------------

void to_wire(const lockstep::ProbeOffer& from, ProbeOffer* to) {
  to->set_node_rank(from.node_rank);
  to->set_fingerprint(from.fingerprint);
  write_list(from.candidates, to->mutable_candidates());
  to->set_port(from.port);
  to->mutable_rank_ports()->Assign(from.rank_ports.begin(), from.rank_ports.end());
}
Status from_wire(const ProbeOffer& from, lockstep::ProbeOffer* to) {
  TRY(read_probe_node(from.node_rank(), "offer.node_rank", &to->node_rank));
  TRY(read_text(from.fingerprint(), "offer.fingerprint", &to->fingerprint, kProbeFingerprintBytes));
  TRY(read_list(from.candidates(), kMaxProbeCandidates, "offer.candidates", &to->candidates));
  TRY(read_port(from.port(), "offer.port", &to->port));
  TRY(check_count(from.rank_ports_size(), kMaxProbeRankPorts, "offer.rank_ports"));
  for (const std::uint32_t port : from.rank_ports())
    TRY(read_port(port, "offer.rank_ports", &to->rank_ports.emplace_back()));
  return {};
}

void to_wire(const lockstep::ProbePlan& from, ProbePlan* to) {
  to->set_key(from.key);
  write_list(from.peers, to->mutable_peers());
}
Status from_wire(const ProbePlan& from, lockstep::ProbePlan* to) {
  TRY(read_text(from.key(), "plan.key", &to->key, kProbeKeyBytes));
  return read_list(from.peers(), kMaxProbePeers, "plan.peers", &to->peers);
}

void to_wire(const lockstep::ProbeFindings& from, ProbeFindings* to) {
  to->set_node_rank(from.node_rank);
  write_list(from.paths, to->mutable_paths());
}
Status from_wire(const ProbeFindings& from, lockstep::ProbeFindings* to) {
  TRY(read_probe_node(from.node_rank(), "findings.node_rank", &to->node_rank));
  return read_list(from.paths(), kMaxProbePaths, "findings.paths", &to->paths);
}

void to_wire(const lockstep::ProbeOutcome& from, ProbeOutcome* to) {
  to_wire(from.result, to->mutable_result());
  to->set_failed_on(from.failed_on + 1);
}
Status from_wire(const ProbeOutcome& from, lockstep::ProbeOutcome* to) {
  TRY(from_wire(from.result(), &to->result));
  return read_number(std::int64_t{from.failed_on()} - 1, -1, kMaxNodesPerJob - 1,
                     "outcome.failed_on", &to->failed_on);
}

}  // namespace lockstep::pb
