#include "common/wire/control.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "proto/control.access.h"
#include "common/wire/access_codec.h"
#include "common/wire/asset_codec.h"
#include "common/wire/assignment_codec.h"
#include "common/wire/audit_codec.h"
#include "common/wire/compute_codec.h"
#include "common/wire/control_codec.h"
#include "common/wire/datastore_codec.h"
#include "common/wire/environment_codec.h"
#include "common/wire/job_file_codec.h"
#include "common/wire/metrics_codec.h"
#include "common/wire/name_codec.h"
#include "common/wire/quota_codec.h"
#include "common/wire/secrets_codec.h"
#include "common/wire/size_codec.h"

namespace lockstep::wire {

namespace {

template <class T>
inline constexpr int kBody = 0;
}
}
#define BODIES
namespace lockstep::wire {
namespace {
#include "means/bodies.inc"

struct BodyWriter {
  pb::Envelope* wire;
  template <class T>
  void operator()(const T& m) const { pb::to_wire(m, pb::Access<pb::Envelope, kBody<T>>::change(*wire)); }
};

template <typename T, typename Variant>
inline constexpr bool kHolds = false;
template <typename T, typename... Types>
inline constexpr bool kHolds<T, std::variant<Types...>> = (std::is_same_v<T, Types> || ...);

template <typename Body>
inline constexpr bool kIsReply =
    std::is_same_v<Body, ClientReply> || std::is_same_v<Body, AgentReply> ||
    std::is_same_v<Body, JoinReply>;

// What is not of the protocol is refused unread. Who awaits a reply has asked: what comes instead
// is another port's.
template <typename T, typename Wire, typename Body>
Status read(const Wire& from, Body* body) {
  if constexpr (kHolds<T, Body>) {
    return pb::from_wire(from, &body->template emplace<T>());
  } else if constexpr (kIsReply<Body>) {
    return make_error(ErrorCode::corrupt,
                      "is no answer to such a request; the address may be that of another port of "
                      "the launcher: PORT of `lockstepd --listen` is for commands and nodes, PORT "
                      "+ 1 for files and logs, PORT + 2 for joining");
  } else if constexpr (kHolds<T, AgentMessage>) {
    return make_error(ErrorCode::permission_denied, "only a node may send this message");
  } else if constexpr (kHolds<T, ClientRequest>) {
    return make_error(ErrorCode::permission_denied, "only a user may send this request");
  } else if constexpr (kHolds<T, JoinMessage>) {
    return make_error(ErrorCode::permission_denied,
                      "a join request must be sent to the join endpoint");
  } else {
    return make_error(ErrorCode::invalid_argument,
                      "a launcher does not accept this kind of message");
  }
}

// Reads the alternative of that number; false: the variant has none.
template <class Body, class... T>
bool read_one(const pb::Envelope& wire, Status* status, Body* body, std::variant<T...>*) {
  const int number = static_cast<int>(wire.body_case());
  return ((kBody<T> == number &&
           (*status = pb::from_wire(pb::Access<pb::Envelope, kBody<T>>::get(wire), &body->template emplace<T>()), true)) || ...);
}
template <class... T>
constexpr bool has_number(int number, std::variant<T...>*) { return ((kBody<T> == number) || ...); }
template <class Body>
bool is_of(int number) { return has_number(number, static_cast<Body*>(nullptr)); }

template <typename Body>
Status read_body(const pb::Envelope& wire, Body* body) {
  Status status;
  if (read_one(wire, &status, body, static_cast<Body*>(nullptr))) return status;
  const int number = static_cast<int>(wire.body_case());
  if (number == 0) return make_error(ErrorCode::corrupt, "envelope: has no body of a kind that this version knows");
  if constexpr (kIsReply<Body>) return make_error(ErrorCode::corrupt, "is no answer to such a request");
  if (is_of<AgentMessage>(number)) return make_error(ErrorCode::permission_denied, "only a node may send this message");
  if (is_of<ClientRequest>(number)) return make_error(ErrorCode::permission_denied, "only a user may send this request");
  if (is_of<JoinMessage>(number)) return make_error(ErrorCode::permission_denied, "a join request must be sent to the join endpoint");
  return make_error(ErrorCode::invalid_argument, "a launcher does not accept this kind of message");
}

}  // namespace

template <typename Body>
std::string encode(const Envelope<Body>& envelope) {
  pb::Envelope wire;
  write_head(envelope, &wire);
  std::visit(BodyWriter{&wire}, envelope.body);
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
  TRY(read_body(wire, &envelope.body));
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
