#include "common/wire/messages/control.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "common/wire/body_codec.h"
#include "common/wire/data/asset_codec.h"
#include "common/wire/data/datastore_codec.h"
#include "common/wire/data/name_codec.h"
#include "common/wire/job/assignment_codec.h"
#include "common/wire/job/attach_codec.h"
#include "common/wire/job/environment_codec.h"
#include "common/wire/job/job_codec.h"
#include "common/wire/messages/control_codec.h"
#include "common/wire/people/access_codec.h"
#include "common/wire/people/audit_codec.h"
#include "common/wire/people/quota_codec.h"
#include "common/wire/people/secrets_codec.h"
#include "common/wire/table_codec.h"
#include "common/wire/targets/compute_codec.h"
#include "common/wire/targets/node_codec.h"
#include "common/wire/targets/size_codec.h"
#include "common/wire/views/metrics_codec.h"
#include "common/wire/views/views_codec.h"
#include "proto/asset.access.h"
#include "proto/compute.access.h"
#include "proto/control.access.h"
#include "proto/datastore.access.h"
#include "proto/environment.access.h"
#include "proto/job_file.access.h"
#include "proto/metrics.access.h"
#include "proto/name.access.h"
#include "proto/runs.access.h"
#include "proto/size.access.h"
#include "proto/usage.access.h"

namespace lockstep::wire {

namespace {

template <typename Body>
inline constexpr bool kIsReply =
    std::is_same_v<Body, ClientReply> || std::is_same_v<Body, AgentReply> ||
    std::is_same_v<Body, JoinReply>;

template <typename... T>
bool has_kind(int number, const std::variant<T...>*) {
  return ((number == pb::kBodyOf<pb::Envelope, T>) || ...);
}
template <typename Body>
bool is_of(int number) {
  return has_kind(number, static_cast<const Body*>(nullptr));
}

// What is not of the protocol is refused unread. Who awaits a reply has asked: what comes instead
// is another port's.
template <typename Body>
Status read_protocol_body(pb::Envelope& wire, Body* body) {
  Status status;
  if (pb::read_known_body(wire, body, &status)) return status;
  const int number = static_cast<int>(wire.body_case());
  if (number == 0)
    return pb::bad_field("body", "is missing or of a kind that this version does not know");
  if constexpr (kIsReply<Body>)
    return make_error(ErrorCode::corrupt,
                      "is no answer to such a request; the address may be that of another port of "
                      "the launcher: PORT of `lockstepd --listen` is for commands and nodes, PORT "
                      "+ 1 for files and logs, PORT + 2 for joining");
  if (is_of<AgentMessage>(number))
    return make_error(ErrorCode::permission_denied, "only a node may send this message");
  if (is_of<ClientRequest>(number))
    return make_error(ErrorCode::permission_denied, "only a user may send this request");
  if (is_of<JoinMessage>(number))
    return make_error(ErrorCode::permission_denied,
                      "a join request must be sent to the join endpoint");
  return make_error(ErrorCode::invalid_argument, "a launcher does not accept this kind of message");
}

template <typename Body>
void write_head(const Envelope<Body>& envelope, pb::Envelope* wire) {
  wire->set_version(envelope.version);
  wire->set_sequence(envelope.sequence);
  wire->set_reply_to(envelope.reply_to);
  wire->set_deadline_ms(envelope.deadline_ms);
  wire->set_takes_waits(envelope.takes_waits);
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

template <typename Body>
std::string encode(const Envelope<Body>& envelope) {
  pb::Envelope wire;
  write_head(envelope, &wire);
  pb::write_body(envelope.body, &wire);
  return pb::serialize(wire);
}

std::string DesiredEncoder::encode(Envelope<AgentReply> envelope) {
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

template <typename Body>
Result<Envelope<Body>> decode_envelope(std::string_view bytes) {
  pb::Envelope wire;
  TRY(pb::parse(bytes, kMaxControlMessageBytes, "control message", &wire));
  TRY(pb::check_version(wire.version(), kProtocolVersion, "control message"));
  Envelope<Body> envelope;
  envelope.version = wire.version();
  envelope.sequence = wire.sequence();
  envelope.reply_to = wire.reply_to();
  constexpr std::int64_t kMaxWaitMs = std::int64_t{100} * 366 * 86'400'000;
  if (wire.deadline_ms() < 0 || wire.deadline_ms() > kMaxWaitMs)
    return pb::bad_field("deadline_ms", "is negative or beyond 100 years");
  envelope.deadline_ms = wire.deadline_ms();
  envelope.takes_waits = wire.takes_waits();
  TRY(read_protocol_body(wire, &envelope.body));
  return envelope;
}

std::string join_refusal_of_any_version(std::string_view bytes) {
  pb::Envelope wire;
  if (!pb::parse(bytes, kMaxJoinMessageBytes, "control message", &wire)) return "";
  if (wire.body_case() != pb::Envelope::kJoinRefused) return "";
  lockstep::JoinRefused refused;
  return pb::from_wire(wire.join_refused(), &refused) ? refused.reason : "";
}

// The head's fields come first, and are read without the rest, which may be large and is of no use.
std::optional<std::uint64_t> peek_sequence(std::string_view bytes) {
  constexpr std::size_t kHeadBytes = 4 * 11;  // at most: tags of one byte, varints of ten
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                            static_cast<int>(std::min(bytes.size(), kHeadBytes)));
  std::optional<std::uint64_t> sequence;
  for (std::uint32_t tag = in.ReadTag(); tag != 0; tag = in.ReadTag()) {
    const bool is_varint = (tag & 7) == 0;
    std::uint64_t value = 0;
    if (!is_varint || !in.ReadVarint64(&value)) break;
    if (tag >> 3 == pb::Envelope::kVersionFieldNumber && !sequence) sequence = 0;
    if (tag >> 3 == pb::Envelope::kSequenceFieldNumber) sequence = value;
  }
  return sequence;
}

template std::string encode(const Envelope<AgentMessage>&);
template std::string encode(const Envelope<AgentReply>&);
template std::string encode(const Envelope<ClientRequest>&);
template std::string encode(const Envelope<ClientReply>&);
template std::string encode(const Envelope<JoinMessage>&);
template std::string encode(const Envelope<JoinReply>&);
template Result<Envelope<AgentMessage>> decode_envelope(std::string_view);
template Result<Envelope<AgentReply>> decode_envelope(std::string_view);
template Result<Envelope<ClientRequest>> decode_envelope(std::string_view);
template Result<Envelope<ClientReply>> decode_envelope(std::string_view);
template Result<Envelope<JoinMessage>> decode_envelope(std::string_view);
template Result<Envelope<JoinReply>> decode_envelope(std::string_view);

}  // namespace lockstep::wire
