#include "common/wire/job/assignment_codec.h"
#include "common/wire/job/found_codec.h"
#include "common/wire/job/job_codec.h"
#include "common/wire/runners/probe_codec.h"
#include "common/wire/runners/runner_codec.h"
#include "common/wire/targets/fabric_codec.h"
#include "common/wire/why_codec.h"
#include "proto/runner.pb.h"

namespace lockstep::wire {

namespace {

using Blobs = google::protobuf::RepeatedPtrField<pb::NodeBlob>;

Status read_node(int value, const char* field, int* out) {
  return pb::read_number(value, 0, kMaxNodesPerJob - 1, field, out);
}

void write_blobs(const std::map<int, std::string>& from, Blobs* to) {
  for (const auto& [node_rank, data] : from) {
    auto* blob = to->Add();
    blob->set_node_rank(node_rank);
    blob->set_data(data);
  }
}

Status read_blobs(const Blobs& from, std::map<int, std::string>* to) {
  TRY(pb::check_count(from.size(), kMaxNodesPerJob, "fence.blobs"));
  for (const auto& blob : from) {
    int node_rank = 0;
    TRY(read_node(blob.node_rank(), "fence.node_rank", &node_rank));
    if (!to->emplace(node_rank, blob.data()).second)
      return pb::bad_field("fence.blobs", "holds two contributions of one node");
  }
  return {};
}

template <typename Domain, typename Wire>
void write_fence(const Domain& from, Wire* to) {
  to->set_signature(from.signature);
  to->set_sequence(from.sequence);
  write_blobs(from.blobs, to->mutable_blobs());
}

template <typename Wire, typename Domain>
Status read_fence(const Wire& from, Domain* to) {
  TRY(pb::read_text(from.signature(), "fence.signature", &to->signature, kMaxRunnerFrameBytes));
  to->sequence = from.sequence();
  return read_blobs(from.blobs(), &to->blobs);
}

struct BodyWriter {
  pb::GangMessage* wire;
  void operator()(const GangHello& m) const {
    pb::to_wire(m.attempt, wire->mutable_hello()->mutable_attempt());
    wire->mutable_hello()->set_node_rank(m.node_rank);
    wire->mutable_hello()->set_awaits_rows(m.awaits_rows);
  }
  void operator()(const GangReady& m) const {
    wire->mutable_ready()->set_node_rank(m.node_rank);
    wire->mutable_ready()->set_knows(m.knows);
  }
  void operator()(const GangStart& m) const { wire->mutable_start()->set_knows(m.knows); }
  void operator()(const FencePart& m) const { write_fence(m, wire->mutable_fence_part()); }
  void operator()(const FenceDone& m) const { write_fence(m, wire->mutable_fence_done()); }
  void operator()(const ModexRequest& m) const {
    auto* to = wire->mutable_modex_request();
    to->set_id(m.id);
    to->set_from_node(m.from_node);
    to->set_to_node(m.to_node);
    to->set_rank(m.rank);
  }
  void operator()(const ModexReply& m) const {
    auto* to = wire->mutable_modex_reply();
    to->set_id(m.id);
    to->set_to_node(m.to_node);
    to->set_found(m.found);
    to->set_data(m.data);
  }
  void operator()(const GangAbort& m) const {
    pb::GangAbort* to = wire->mutable_abort();
    to->set_node_rank(m.node_rank);
    pb::to_wire(m.first, to->mutable_first());
    pb::write_why(m.why, to->mutable_message(), [&] { return to->mutable_why_data(); });
  }
  void operator()(const GangDrained& m) const {
    wire->mutable_drained()->set_node_rank(m.node_rank);
    if (m.connected) wire->mutable_drained()->set_connected(*m.connected);
  }
  void operator()(const GangStandings& m) const {
    auto* to = wire->mutable_standings();
    to->set_now_ns(m.now.ns);
    pb::write_list(m.standings, to->mutable_standings());
    pb::write_list(m.paces, to->mutable_paces());
    to->mutable_lost()->Assign(m.lost.begin(), m.lost.end());
  }
  void operator()(const GangLook& m) const {
    auto* to = wire->mutable_look();
    to->set_id(m.id);
    to->set_all(m.all);
    to->mutable_ranks()->Assign(m.ranks.begin(), m.ranks.end());
    to->set_stacks(m.stacks);
    to->set_keep(m.keep);
  }
  void operator()(const GangSeen& m) const {
    wire->mutable_seen()->set_id(m.id);
    wire->mutable_seen()->set_now_ns(m.now.ns);
    pb::write_list(m.standings, wire->mutable_seen()->mutable_standings());
  }
  void operator()(const GangRows& m) const {
    auto* to = wire->mutable_rows();
    pb::to_wire(m.attempt, to->mutable_attempt());
    to->set_first(m.first);
    pb::write_list(m.rows, to->mutable_rows());
    to->set_master_port(m.master_port);
    if (m.fabric) pb::to_wire(*m.fabric, to->mutable_fabric());
  }
  void operator()(const ProbeOffer& m) const { pb::to_wire(m, wire->mutable_probe_offer()); }
  void operator()(const ProbePlan& m) const { pb::to_wire(m, wire->mutable_probe_plan()); }
  void operator()(const ProbeFindings& m) const { pb::to_wire(m, wire->mutable_probe_findings()); }
  void operator()(const ProbeOutcome& m) const { pb::to_wire(m, wire->mutable_probe_outcome()); }
};

Status read_hello(const pb::GangHello& from, GangHello* to) {
  TRY(pb::from_wire(from.attempt(), &to->attempt));
  to->awaits_rows = from.awaits_rows();
  return read_node(from.node_rank(), "hello.node_rank", &to->node_rank);
}

Status read_rows(const pb::GangRows& from, GangRows* to) {
  TRY(pb::from_wire(from.attempt(), &to->attempt));
  TRY(read_node(from.first(), "rows.first", &to->first));
  if (from.rows().empty()) return pb::bad_field("rows.rows", "is empty");
  TRY(pb::read_list(from.rows(), kMaxRowsInMessage, "rows.rows", &to->rows));
  if (from.has_fabric()) TRY(pb::from_wire(from.fabric(), &to->fabric.emplace()));
  return pb::read_port(from.master_port(), "rows.master_port", &to->master_port);
}

Status read_modex_request(const pb::ModexRequest& from, ModexRequest* to) {
  to->id = from.id();
  TRY(read_node(from.from_node(), "modex.from_node", &to->from_node));
  TRY(read_node(from.to_node(), "modex.to_node", &to->to_node));
  return pb::read_rank(from.rank(), "modex.rank", &to->rank);
}

Status read_modex_reply(const pb::ModexReply& from, ModexReply* to) {
  to->id = from.id();
  TRY(read_node(from.to_node(), "modex.to_node", &to->to_node));
  to->found = from.found();
  to->data = from.data();
  return {};
}

Status read_abort(const pb::GangAbort& from, GangAbort* to) {
  TRY(read_node(from.node_rank(), "abort.node_rank", &to->node_rank));
  TRY(pb::from_wire(from.first(), &to->first));
  return pb::read_why(from.message(), from.has_why_data(), from.why_data(), "abort.message",
                      &to->why);
}

Status read_drained(const pb::GangDrained& from, GangDrained* to) {
  if (from.has_connected()) to->connected = from.connected();
  return read_node(from.node_rank(), "drained.node_rank", &to->node_rank);
}

Status read_ready(const pb::GangReady& from, GangReady* to) {
  to->knows = from.knows();
  return read_node(from.node_rank(), "ready.node_rank", &to->node_rank);
}

Status read_standings(const pb::GangStandings& from, GangStandings* to) {
  TRY(pb::read_instant(from.now_ns(), "standings.now", &to->now));
  TRY(pb::read_list(from.standings(), kMaxStandingsOfMessage, "standings", &to->standings));
  TRY(pb::read_list(from.paces(), kMaxStandingsOfMessage, "standings.paces", &to->paces));
  TRY(pb::check_count(from.lost_size(), kMaxNodesPerJob, "standings.lost"));
  for (const int node : from.lost())
    TRY(read_node(node, "standings.lost", &to->lost.emplace_back()));
  return {};
}

Status read_look(const pb::GangLook& from, GangLook* to) {
  to->id = from.id();
  to->all = from.all();
  TRY(pb::check_count(from.ranks_size(), kMaxRanksOfLook, "look.ranks"));
  for (const int rank : from.ranks())
    TRY(pb::read_rank(rank, "look.ranks", &to->ranks.emplace_back()));
  to->stacks = from.stacks();
  to->keep = from.keep();
  return {};
}

Status read_seen(const pb::GangSeen& from, GangSeen* to) {
  to->id = from.id();
  TRY(pb::read_instant(from.now_ns(), "seen.now", &to->now));
  return pb::read_list(from.standings(), kMaxStandingsOfMessage, "seen", &to->standings);
}

Status read_body(const pb::GangMessage& wire, GangMessage* body) {
  switch (wire.body_case()) {
    case pb::GangMessage::kHello: return read_hello(wire.hello(), &body->emplace<GangHello>());
    case pb::GangMessage::kReady: return read_ready(wire.ready(), &body->emplace<GangReady>());
    case pb::GangMessage::kStart:
      body->emplace<GangStart>().knows = wire.start().knows();
      return {};
    case pb::GangMessage::kFencePart:
      return read_fence(wire.fence_part(), &body->emplace<FencePart>());
    case pb::GangMessage::kFenceDone:
      return read_fence(wire.fence_done(), &body->emplace<FenceDone>());
    case pb::GangMessage::kModexRequest:
      return read_modex_request(wire.modex_request(), &body->emplace<ModexRequest>());
    case pb::GangMessage::kModexReply:
      return read_modex_reply(wire.modex_reply(), &body->emplace<ModexReply>());
    case pb::GangMessage::kAbort: return read_abort(wire.abort(), &body->emplace<GangAbort>());
    case pb::GangMessage::kDrained:
      return read_drained(wire.drained(), &body->emplace<GangDrained>());
    case pb::GangMessage::kStandings:
      return read_standings(wire.standings(), &body->emplace<GangStandings>());
    case pb::GangMessage::kLook: return read_look(wire.look(), &body->emplace<GangLook>());
    case pb::GangMessage::kSeen: return read_seen(wire.seen(), &body->emplace<GangSeen>());
    case pb::GangMessage::kRows: return read_rows(wire.rows(), &body->emplace<GangRows>());
    case pb::GangMessage::kProbeOffer:
      return pb::from_wire(wire.probe_offer(), &body->emplace<ProbeOffer>());
    case pb::GangMessage::kProbePlan:
      return pb::from_wire(wire.probe_plan(), &body->emplace<ProbePlan>());
    case pb::GangMessage::kProbeFindings:
      return pb::from_wire(wire.probe_findings(), &body->emplace<ProbeFindings>());
    case pb::GangMessage::kProbeOutcome:
      return pb::from_wire(wire.probe_outcome(), &body->emplace<ProbeOutcome>());
    case pb::GangMessage::BODY_NOT_SET: break;
  }
  return pb::bad_field("body", "is missing or of a kind that this version does not know");
}

}  // namespace

std::string encode(const GangMessage& message) {
  pb::GangMessage wire;
  wire.set_version(kRunnerVersion);
  std::visit(BodyWriter{&wire}, message);
  return pb::serialize(wire);
}

Result<GangMessage> decode_gang(std::string_view bytes) {
  pb::GangMessage wire;
  TRY(pb::parse(bytes, kMaxGangMessageBytes, "gang message", &wire));
  TRY(pb::check_version(wire.version(), kRunnerVersion, "gang message"));
  GangMessage message;
  TRY(read_body(wire, &message));
  return message;
}

}  // namespace lockstep::wire
