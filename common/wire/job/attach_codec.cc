#include "common/wire/job/attach_codec.h"

#include <fmt/format.h>

#include "common/domain/job/spec.h"
#include "common/wire/job/assignment_codec.h"

namespace lockstep::pb {
namespace {

static_assert(static_cast<int>(lockstep::AttachStream::input) == ATTACH_STREAM_INPUT);
static_assert(static_cast<int>(lockstep::AttachStream::output) == ATTACH_STREAM_OUTPUT);
static_assert(static_cast<int>(lockstep::AttachStream::error) == ATTACH_STREAM_ERROR);

constexpr int kLastExitCode = 255;

// ---- parts of frames ---------------------------------------------------------------------------

// Offsets stay where sums of them with sizes do not overflow.
Status read_offset(std::uint64_t value, const char* field, std::uint64_t* out) {
  if (value > std::uint64_t{1} << 62) return bad_field(field, "is larger than any stream can be");
  *out = value;
  return {};
}

Status read_stream(int value, lockstep::AttachStream* out) {
  if (value < ATTACH_STREAM_INPUT || value > ATTACH_STREAM_ERROR)
    return bad_field("attach.stream", fmt::format("holds an unknown value {}", value));
  *out = static_cast<lockstep::AttachStream>(value);
  return {};
}

Status read_side(std::uint32_t value, const char* field, std::uint16_t* out) {
  if (value > UINT16_MAX)
    return bad_field(field, fmt::format("is {}; at most {}", value, UINT16_MAX));
  *out = static_cast<std::uint16_t>(value);
  return {};
}

void to_wire(const lockstep::TerminalSize& from, TerminalSize* to) {
  to->set_rows(from.rows);
  to->set_columns(from.columns);
}
Status from_wire(const TerminalSize& from, lockstep::TerminalSize* to) {
  TRY(read_side(from.rows(), "attach.size.rows", &to->rows));
  return read_side(from.columns(), "attach.size.columns", &to->columns);
}

// ---- orders ------------------------------------------------------------------------------------

struct OrderWriter {
  AttachOpen* wire;
  void operator()(const lockstep::AttachProgram& order) const {
    AttachProgram* const to = wire->mutable_program();
    write_texts(order.argv, to->mutable_argv());
    to->set_terminal(order.terminal);
    to_wire(order.size, to->mutable_size());
    to->set_term(order.term);
    to->set_takes_input(order.takes_input);
  }
  void operator()(const lockstep::AttachMain& order) const {
    to_wire(order.size, wire->mutable_main()->mutable_size());
  }
  void operator()(const lockstep::AttachSignal& order) const {
    wire->mutable_signal()->set_number(order.number);
  }
  void operator()(const lockstep::AttachStacks& order) const {
    wire->mutable_stacks()->set_native(order.native);
    wire->mutable_stacks()->set_standings(order.standings);
  }
};

Status read_program(const AttachProgram& from, lockstep::AttachProgram* to) {
  TRY(read_texts(from.argv(), kMaxAttachWords, "attach.program.argv", &to->argv));
  to->terminal = from.terminal();
  TRY(from_wire(from.size(), &to->size));
  TRY(read_text(from.term(), "attach.program.term", &to->term, kMaxTermBytes));
  to->takes_input = from.takes_input();
  return {};
}

Status read_order(const AttachOpen& from, AttachOrder* to) {
  switch (from.order_case()) {
    case AttachOpen::kProgram:
      TRY(read_program(from.program(), &to->emplace<lockstep::AttachProgram>()));
      break;
    case AttachOpen::kMain:
      TRY(from_wire(from.main().size(), &to->emplace<lockstep::AttachMain>().size));
      break;
    case AttachOpen::kSignal:
      to->emplace<lockstep::AttachSignal>().number = from.signal().number();
      break;
    case AttachOpen::kStacks:
      to->emplace<lockstep::AttachStacks>() = {from.stacks().native(), from.stacks().standings()};
      break;
    case AttachOpen::ORDER_NOT_SET:
      return bad_field("attach.order", "is missing or of a kind that this version does not know");
  }
  if (const Status valid = validate(*to); !valid)
    return bad_field("attach.order", valid.error().message);
  return {};
}

// ---- frames ------------------------------------------------------------------------------------

struct BodyWriter {
  AttachFrame* wire;
  void operator()(const lockstep::AttachOpen& body) const {
    AttachOpen* const to = wire->mutable_open();
    to->set_job(body.job.value);
    if (body.rank) to->set_rank(*body.rank);
    if (body.node_rank >= 0) to->set_node_rank(body.node_rank);
    if (body.attempt.number != 0) to_wire(body.attempt, to->mutable_attempt());
    to->set_have_output(body.have_output);
    to->set_have_error(body.have_error);
    to->set_again(body.again);
    std::visit(OrderWriter{to}, body.order);
  }
  void operator()(const lockstep::AttachOpened& body) const {
    AttachOpened* const to = wire->mutable_opened();
    to_wire(body.attempt, to->mutable_attempt());
    to->set_rank(body.rank);
    to->set_node_rank(body.node_rank);
    to->set_node(body.node);
    to->set_have_input(body.have_input);
  }
  void operator()(const lockstep::AttachData& body) const {
    AttachData* const to = wire->mutable_data();
    to->set_stream(static_cast<AttachStream>(body.stream));
    to->set_offset(body.offset);
    to->set_bytes(body.bytes);
    to->set_end(body.end);
  }
  void operator()(const lockstep::AttachTaken& body) const {
    wire->mutable_taken()->set_stream(static_cast<AttachStream>(body.stream));
    wire->mutable_taken()->set_offset(body.offset);
  }
  void operator()(const lockstep::AttachResize& body) const {
    to_wire(body.size, wire->mutable_resize()->mutable_size());
  }
  void operator()(const lockstep::AttachNotify& body) const {
    wire->mutable_notify()->set_number(body.number);
  }
  void operator()(const lockstep::AttachAlive&) const { wire->mutable_alive(); }
  void operator()(const lockstep::AttachEnd& body) const {
    AttachEnd* const to = wire->mutable_end();
    to->set_code(body.code);
    to->set_message(fitting_text(body.message));
    to->set_output(body.output);
    to->set_error(body.error);
  }
  void operator()(const lockstep::AttachClose&) const { wire->mutable_close(); }
  void operator()(const lockstep::AttachRefused& body) const {
    wire->mutable_refused()->set_message(fitting_text(body.message));
    wire->mutable_refused()->set_for_now(body.for_now);
  }
};

Status read(const AttachOpen& from, lockstep::AttachOpen* to) {
  TRY(read_job(from.job(), "attach.job", &to->job));
  if (from.has_rank()) TRY(read_rank(from.rank(), "attach.rank", &to->rank.emplace()));
  if (from.has_node_rank())
    TRY(read_number(from.node_rank(), 0, kMaxNodesPerJob - 1, "attach.node_rank", &to->node_rank));
  if (from.has_attempt()) TRY(from_wire(from.attempt(), &to->attempt));
  TRY(read_offset(from.have_output(), "attach.have_output", &to->have_output));
  TRY(read_offset(from.have_error(), "attach.have_error", &to->have_error));
  to->again = from.again();
  return read_order(from, &to->order);
}

Status read(const AttachOpened& from, lockstep::AttachOpened* to) {
  TRY(from_wire(from.attempt(), &to->attempt));
  TRY(read_rank(from.rank(), "attach.rank", &to->rank));
  TRY(read_number(from.node_rank(), 0, kMaxNodesPerJob - 1, "attach.node_rank", &to->node_rank));
  TRY(read_text(from.node(), "attach.node", &to->node));
  return read_offset(from.have_input(), "attach.have_input", &to->have_input);
}

Status read(const AttachData& from, lockstep::AttachData* to) {
  TRY(read_stream(from.stream(), &to->stream));
  TRY(read_offset(from.offset(), "attach.data.offset", &to->offset));
  TRY(read_text(from.bytes(), "attach.data.bytes", &to->bytes, kMaxAttachData));
  to->end = from.end();
  return {};
}

Status read(const AttachTaken& from, lockstep::AttachTaken* to) {
  TRY(read_stream(from.stream(), &to->stream));
  return read_offset(from.offset(), "attach.taken.offset", &to->offset);
}

Status read(const AttachEnd& from, lockstep::AttachEnd* to) {
  TRY(read_number(from.code(), 0, kLastExitCode, "attach.end.code", &to->code));
  TRY(read_text(from.message(), "attach.end.message", &to->message));
  TRY(read_offset(from.output(), "attach.end.output", &to->output));
  return read_offset(from.error(), "attach.end.error", &to->error);
}

Status read(const AttachRefused& from, lockstep::AttachRefused* to) {
  TRY(read_text(from.message(), "attach.refused.message", &to->message));
  to->for_now = from.for_now();
  return {};
}

Status read_body(const AttachFrame& from, AttachBody* to) {
  switch (from.body_case()) {
    case AttachFrame::kOpen: return read(from.open(), &to->emplace<lockstep::AttachOpen>());
    case AttachFrame::kOpened: return read(from.opened(), &to->emplace<lockstep::AttachOpened>());
    case AttachFrame::kData: return read(from.data(), &to->emplace<lockstep::AttachData>());
    case AttachFrame::kTaken: return read(from.taken(), &to->emplace<lockstep::AttachTaken>());
    case AttachFrame::kResize:
      return from_wire(from.resize().size(), &to->emplace<lockstep::AttachResize>().size);
    case AttachFrame::kNotify:
      return read_number(from.notify().number(), 1, kLastSignal, "attach.notify.number",
                         &to->emplace<lockstep::AttachNotify>().number);
    case AttachFrame::kAlive: to->emplace<lockstep::AttachAlive>(); return {};
    case AttachFrame::kEnd: return read(from.end(), &to->emplace<lockstep::AttachEnd>());
    case AttachFrame::kClose: to->emplace<lockstep::AttachClose>(); return {};
    case AttachFrame::kRefused:
      return read(from.refused(), &to->emplace<lockstep::AttachRefused>());
    case AttachFrame::BODY_NOT_SET: break;
  }
  return bad_field("attach.body", "is missing or of a kind that this version does not know");
}

}  // namespace

void to_wire(const lockstep::AttachFrame& from, AttachFrame* to) {
  to->set_attachment(from.attachment.value);
  std::visit(BodyWriter{to}, from.body);
}

Status from_wire(const AttachFrame& from, lockstep::AttachFrame* to) {
  if (from.attachment().size() != kAttachIdBytes)
    return bad_field("attach.attachment", fmt::format("has {} bytes; an id has {}",
                                                      from.attachment().size(), kAttachIdBytes));
  to->attachment.value = from.attachment();
  return read_body(from, &to->body);
}

}  // namespace lockstep::pb
