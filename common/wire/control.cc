#include "common/wire/control.h"

#include <utility>

#include "common/wire/assignment_codec.h"
#include "common/wire/control_codec.h"
#include "common/wire/environment_codec.h"

namespace lockstep::wire {

namespace {

struct BodyWriter {
  pb::Envelope* wire;
  void operator()(const SessionOpen& m) const { pb::to_wire(m, wire->mutable_session_open()); }
  void operator()(const Heartbeat& m) const { pb::to_wire(m, wire->mutable_heartbeat()); }
  void operator()(const Observed& m) const { pb::to_wire(m, wire->mutable_observed()); }
  void operator()(const SessionAccepted& m) const {
    pb::to_wire(m, wire->mutable_session_accepted());
  }
  void operator()(const SessionRefused& m) const {
    pb::to_wire(m, wire->mutable_session_refused());
  }
  void operator()(const SessionLost& m) const { pb::to_wire(m, wire->mutable_session_lost()); }
  void operator()(const HeartbeatAck& m) const { pb::to_wire(m, wire->mutable_heartbeat_ack()); }
  void operator()(const ObservedAck& m) const { pb::to_wire(m, wire->mutable_observed_ack()); }
  void operator()(const Desired& m) const { pb::to_wire(m, wire->mutable_desired()); }
  void operator()(const Submit& m) const { pb::to_wire(m, wire->mutable_submit()); }
  void operator()(const CancelJob& m) const { pb::to_wire(m, wire->mutable_cancel_job()); }
  void operator()(const DeleteJobs& m) const { pb::to_wire(m, wire->mutable_delete_jobs()); }
  void operator()(const ListJobs& m) const { pb::to_wire(m, wire->mutable_list_jobs()); }
  void operator()(const ShowJob& m) const { pb::to_wire(m, wire->mutable_show_job()); }
  void operator()(const ExplainJob& m) const { pb::to_wire(m, wire->mutable_explain_job()); }
  void operator()(const ListEvents& m) const { pb::to_wire(m, wire->mutable_list_events()); }
  void operator()(const WatchJob& m) const { pb::to_wire(m, wire->mutable_watch_job()); }
  void operator()(const ListNodes& m) const { pb::to_wire(m, wire->mutable_list_nodes()); }
  void operator()(const ShowNode& m) const { pb::to_wire(m, wire->mutable_show_node()); }
  void operator()(const CreateToken& m) const { pb::to_wire(m, wire->mutable_create_token()); }
  void operator()(const DrainNode& m) const { pb::to_wire(m, wire->mutable_drain_node()); }
  void operator()(const RemoveNode& m) const { pb::to_wire(m, wire->mutable_remove_node()); }
  void operator()(const GetStatus& m) const { pb::to_wire(m, wire->mutable_get_status()); }
  void operator()(const Shutdown& m) const { pb::to_wire(m, wire->mutable_shutdown()); }
  void operator()(const SubmitReply& m) const { pb::to_wire(m, wire->mutable_submit_reply()); }
  void operator()(const JobReply& m) const { pb::to_wire(m, wire->mutable_job_reply()); }
  void operator()(const JobsDeleted& m) const { pb::to_wire(m, wire->mutable_jobs_deleted()); }
  void operator()(const JobUpdate& m) const { pb::to_wire(m, wire->mutable_job_update()); }
  void operator()(const JobsReply& m) const { pb::to_wire(m, wire->mutable_jobs_reply()); }
  void operator()(const ExplainReply& m) const { pb::to_wire(m, wire->mutable_explain_reply()); }
  void operator()(const EventsReply& m) const { pb::to_wire(m, wire->mutable_events_reply()); }
  void operator()(const NodesReply& m) const { pb::to_wire(m, wire->mutable_nodes_reply()); }
  void operator()(const TokenReply& m) const { pb::to_wire(m, wire->mutable_token_reply()); }
  void operator()(const StatusReply& m) const { pb::to_wire(m, wire->mutable_status_reply()); }
  void operator()(const Done& m) const { pb::to_wire(m, wire->mutable_done()); }
  void operator()(const Refused& m) const { pb::to_wire(m, wire->mutable_refused()); }
  void operator()(const JoinRequest& m) const { pb::to_wire(m, wire->mutable_join_request()); }
  void operator()(const JoinAccepted& m) const { pb::to_wire(m, wire->mutable_join_accepted()); }
  void operator()(const JoinRefused& m) const { pb::to_wire(m, wire->mutable_join_refused()); }
  void operator()(const AllowPeers& m) const { pb::to_wire(m, wire->mutable_allow_peers()); }
  void operator()(const CreateEnvironment& m) const {
    pb::to_wire(m, wire->mutable_create_environment());
  }
  void operator()(const ShowEnvironment& m) const {
    pb::to_wire(m, wire->mutable_show_environment());
  }
  void operator()(const ListEnvironments& m) const {
    pb::to_wire(m, wire->mutable_list_environments());
  }
  void operator()(const PruneEnvironments& m) const {
    pb::to_wire(m, wire->mutable_prune_environments());
  }
  void operator()(const EnvironmentReply& m) const {
    pb::to_wire(m, wire->mutable_environment_reply());
  }
  void operator()(const EnvironmentsReply& m) const {
    pb::to_wire(m, wire->mutable_environments_reply());
  }
};

Status read_body(const pb::Envelope& wire, Message* body) {
  switch (wire.body_case()) {
    case pb::Envelope::kSessionOpen:
      return pb::from_wire(wire.session_open(), &body->emplace<SessionOpen>());
    case pb::Envelope::kHeartbeat:
      return pb::from_wire(wire.heartbeat(), &body->emplace<Heartbeat>());
    case pb::Envelope::kObserved: return pb::from_wire(wire.observed(), &body->emplace<Observed>());
    case pb::Envelope::kSessionAccepted:
      return pb::from_wire(wire.session_accepted(), &body->emplace<SessionAccepted>());
    case pb::Envelope::kSessionRefused:
      return pb::from_wire(wire.session_refused(), &body->emplace<SessionRefused>());
    case pb::Envelope::kSessionLost:
      return pb::from_wire(wire.session_lost(), &body->emplace<SessionLost>());
    case pb::Envelope::kHeartbeatAck:
      return pb::from_wire(wire.heartbeat_ack(), &body->emplace<HeartbeatAck>());
    case pb::Envelope::kObservedAck:
      return pb::from_wire(wire.observed_ack(), &body->emplace<ObservedAck>());
    case pb::Envelope::kDesired: return pb::from_wire(wire.desired(), &body->emplace<Desired>());
    case pb::Envelope::kSubmit: return pb::from_wire(wire.submit(), &body->emplace<Submit>());
    case pb::Envelope::kCancelJob:
      return pb::from_wire(wire.cancel_job(), &body->emplace<CancelJob>());
    case pb::Envelope::kDeleteJobs:
      return pb::from_wire(wire.delete_jobs(), &body->emplace<DeleteJobs>());
    case pb::Envelope::kListJobs:
      return pb::from_wire(wire.list_jobs(), &body->emplace<ListJobs>());
    case pb::Envelope::kShowJob: return pb::from_wire(wire.show_job(), &body->emplace<ShowJob>());
    case pb::Envelope::kExplainJob:
      return pb::from_wire(wire.explain_job(), &body->emplace<ExplainJob>());
    case pb::Envelope::kWatchJob:
      return pb::from_wire(wire.watch_job(), &body->emplace<WatchJob>());
    case pb::Envelope::kListNodes:
      return pb::from_wire(wire.list_nodes(), &body->emplace<ListNodes>());
    case pb::Envelope::kShowNode:
      return pb::from_wire(wire.show_node(), &body->emplace<ShowNode>());
    case pb::Envelope::kCreateToken:
      return pb::from_wire(wire.create_token(), &body->emplace<CreateToken>());
    case pb::Envelope::kDrainNode:
      return pb::from_wire(wire.drain_node(), &body->emplace<DrainNode>());
    case pb::Envelope::kRemoveNode:
      return pb::from_wire(wire.remove_node(), &body->emplace<RemoveNode>());
    case pb::Envelope::kGetStatus:
      return pb::from_wire(wire.get_status(), &body->emplace<GetStatus>());
    case pb::Envelope::kShutdown: return pb::from_wire(wire.shutdown(), &body->emplace<Shutdown>());
    case pb::Envelope::kSubmitReply:
      return pb::from_wire(wire.submit_reply(), &body->emplace<SubmitReply>());
    case pb::Envelope::kJobReply:
      return pb::from_wire(wire.job_reply(), &body->emplace<JobReply>());
    case pb::Envelope::kJobsDeleted:
      return pb::from_wire(wire.jobs_deleted(), &body->emplace<JobsDeleted>());
    case pb::Envelope::kJobUpdate:
      return pb::from_wire(wire.job_update(), &body->emplace<JobUpdate>());
    case pb::Envelope::kJobsReply:
      return pb::from_wire(wire.jobs_reply(), &body->emplace<JobsReply>());
    case pb::Envelope::kListEvents:
      return pb::from_wire(wire.list_events(), &body->emplace<ListEvents>());
    case pb::Envelope::kEventsReply:
      return pb::from_wire(wire.events_reply(), &body->emplace<EventsReply>());
    case pb::Envelope::kExplainReply:
      return pb::from_wire(wire.explain_reply(), &body->emplace<ExplainReply>());
    case pb::Envelope::kNodesReply:
      return pb::from_wire(wire.nodes_reply(), &body->emplace<NodesReply>());
    case pb::Envelope::kTokenReply:
      return pb::from_wire(wire.token_reply(), &body->emplace<TokenReply>());
    case pb::Envelope::kStatusReply:
      return pb::from_wire(wire.status_reply(), &body->emplace<StatusReply>());
    case pb::Envelope::kDone: return pb::from_wire(wire.done(), &body->emplace<Done>());
    case pb::Envelope::kRefused: return pb::from_wire(wire.refused(), &body->emplace<Refused>());
    case pb::Envelope::kJoinRequest:
      return pb::from_wire(wire.join_request(), &body->emplace<JoinRequest>());
    case pb::Envelope::kJoinAccepted:
      return pb::from_wire(wire.join_accepted(), &body->emplace<JoinAccepted>());
    case pb::Envelope::kJoinRefused:
      return pb::from_wire(wire.join_refused(), &body->emplace<JoinRefused>());
    case pb::Envelope::kAllowPeers:
      return pb::from_wire(wire.allow_peers(), &body->emplace<AllowPeers>());
    case pb::Envelope::kCreateEnvironment:
      return pb::from_wire(wire.create_environment(), &body->emplace<CreateEnvironment>());
    case pb::Envelope::kShowEnvironment:
      return pb::from_wire(wire.show_environment(), &body->emplace<ShowEnvironment>());
    case pb::Envelope::kListEnvironments:
      return pb::from_wire(wire.list_environments(), &body->emplace<ListEnvironments>());
    case pb::Envelope::kPruneEnvironments:
      return pb::from_wire(wire.prune_environments(), &body->emplace<PruneEnvironments>());
    case pb::Envelope::kEnvironmentReply:
      return pb::from_wire(wire.environment_reply(), &body->emplace<EnvironmentReply>());
    case pb::Envelope::kEnvironmentsReply:
      return pb::from_wire(wire.environments_reply(), &body->emplace<EnvironmentsReply>());
    case pb::Envelope::BODY_NOT_SET: break;
  }
  return pb::bad_field("body", "is missing or of a kind that this version does not know");
}

void write_head(const Envelope& envelope, pb::Envelope* wire) {
  wire->set_version(envelope.version);
  wire->set_sequence(envelope.sequence);
  wire->set_reply_to(envelope.reply_to);
  wire->set_deadline_ms(envelope.deadline_ms);
}

void append_varint(std::uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) *out += static_cast<char>(value | 0x80);
  *out += static_cast<char>(value);
}

// A message that is a field of another, behind what of the other is written already.
void append_field(int number, std::string_view message, std::string* out) {
  constexpr std::uint64_t kLengthDelimited = 2;
  append_varint(static_cast<std::uint64_t>(number) << 3 | kLengthDelimited, out);
  append_varint(message.size(), out);
  *out += message;
}

}  // namespace

std::string encode(const Envelope& envelope) {
  pb::Envelope wire;
  write_head(envelope, &wire);
  std::visit(BodyWriter{&wire}, envelope.body);
  return pb::serialize(wire);
}

std::string DesiredEncoder::encode(Envelope envelope) {
  Desired& body = std::get<Desired>(envelope.body);
  pb::DesiredState state_head;
  state_head.set_revision(body.desired.revision);
  state_head.set_environments_unused_since_ns(body.desired.environments_unused_since.ns);
  std::string state = pb::serialize(state_head);
  for (Assignment& assignment : body.desired.assignments) {
    const auto gang = std::exchange(assignment.gang, {});
    pb::Assignment wire;
    pb::to_wire(assignment, &wire);
    std::string bytes = pb::serialize(wire);
    if (gang) {
      std::string& table = gangs_[assignment.attempt];
      if (table.empty()) {
        pb::to_wire(*gang, wire.mutable_gang());
        table = pb::serialize(wire.gang());
      }
      append_field(pb::Assignment::kGangFieldNumber, table, &bytes);
    }
    append_field(pb::DesiredState::kAssignmentsFieldNumber, bytes, &state);
  }
  pb::Desired desired_head;
  desired_head.set_session(body.session.value);
  std::string desired = pb::serialize(desired_head);
  append_field(pb::Desired::kDesiredFieldNumber, state, &desired);
  pb::Envelope head;
  write_head(envelope, &head);
  std::string bytes = pb::serialize(head);
  append_field(pb::Envelope::kDesiredFieldNumber, desired, &bytes);
  return bytes;
}

Result<Envelope> decode_envelope(std::string_view bytes) {
  pb::Envelope wire;
  TRY(pb::parse(bytes, kMaxControlMessageBytes, "control message", &wire));
  TRY(pb::check_version(wire.version(), kProtocolVersion, "control message"));
  Envelope envelope;
  envelope.version = wire.version();
  envelope.sequence = wire.sequence();
  envelope.reply_to = wire.reply_to();
  constexpr std::int64_t kMaxWaitMs = std::int64_t{100} * 366 * 86'400'000;
  if (wire.deadline_ms() < 0 || wire.deadline_ms() > kMaxWaitMs)
    return pb::bad_field("deadline_ms", "is negative or beyond 100 years");
  envelope.deadline_ms = wire.deadline_ms();
  TRY(read_body(wire, &envelope.body));
  return envelope;
}

std::optional<std::uint64_t> peek_sequence(std::string_view bytes) {
  pb::Envelope wire;
  if (!pb::parse(bytes, kMaxControlMessageBytes, "control message", &wire)) return std::nullopt;
  return wire.sequence();
}

}  // namespace lockstep::wire
