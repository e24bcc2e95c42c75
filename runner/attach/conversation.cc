#include "runner/attach/conversation.h"

#include <algorithm>
#include <utility>

namespace lockstep::runner {

Conversation::Conversation(AttachOpened about, Streams streams)
    : about_(std::move(about)), streams_(streams) {
  error_.stream = AttachStream::error;
  error_.closed = !streams.error;
  error_.end_told = !streams.error;
}

Conversation::Output* Conversation::output(AttachStream stream) {
  switch (stream) {
    case AttachStream::input: return nullptr;
    case AttachStream::output: return &output_;
    case AttachStream::error: return &error_;
  }
  return nullptr;
}

const Conversation::Output* Conversation::output(AttachStream stream) const {
  return const_cast<Conversation*>(this)->output(stream);
}

// ---- the client's frames ------------------------------------------------------------------------

// Takes an acknowledgement. Acknowledged bytes are never sent again. A late frame may acknowledge
// less than an earlier one.
void Conversation::Output::taken_to(std::uint64_t offset) {
  if (offset <= base || offset > length()) return;
  bytes.erase(0, static_cast<std::size_t>(offset - base));
  base = offset;
  sent = std::max(sent, offset);
}

void Conversation::Output::open(std::uint64_t have) {
  taken_to(have);
  sent = base;
  end_told = false;
}

void Conversation::open(std::uint64_t have_output, std::uint64_t have_error) {
  const bool is_short = have_output < output_.lost || have_error < error_.lost;
  output_.open(have_output);
  if (streams_.error) error_.open(have_error);
  tell_opened_ = tell_taken_ = true;
  end_told_ = false;
  if (!is_short) return;
  output_.closed = error_.closed = true;
  end(kAttachFailed,
      "nothing was heard of the client for a while, and what the ranks wrote meanwhile "
      "is in their logs only");
}

void Conversation::take(const AttachData& data) {
  if (data.stream != AttachStream::input || !streams_.input) return;
  tell_taken_ = true;
  if (data.offset > input_.have || input_.ended) return;
  const auto had = static_cast<std::size_t>(
      std::min<std::uint64_t>(input_.have - data.offset, data.bytes.size()));
  const std::string_view fresh = std::string_view(data.bytes).substr(had);
  const std::size_t room = kAttachWindow - std::min(kAttachWindow, input_.bytes.size());
  const std::size_t kept = std::min(fresh.size(), room);
  input_.bytes.append(fresh.substr(0, kept));
  input_.have += kept;
  input_.ended = data.end && data.offset + data.bytes.size() == input_.have;
}

void Conversation::take(const AttachTaken& taken) {
  if (Output* const to = output(taken.stream)) to->taken_to(taken.offset);
}

// ---- the program --------------------------------------------------------------------------------

void Conversation::wrote(std::size_t bytes) {
  input_.bytes.erase(0, bytes);
  tell_taken_ = true;
}

std::size_t Conversation::room(AttachStream stream) const {
  const Output* const of = output(stream);
  if (of == nullptr || of->closed) return 0;
  return kAttachWindow - std::min(kAttachWindow, of->bytes.size());
}

void Conversation::add(AttachStream stream, std::string_view bytes) {
  if (Output* const to = output(stream); to != nullptr && !to->closed) to->bytes.append(bytes);
}

void Conversation::close(AttachStream stream) {
  if (Output* const of = output(stream)) of->closed = true;
}

void Conversation::lose(AttachStream stream, std::size_t bytes) {
  Output* const of = output(stream);
  if (of == nullptr) return;
  of->taken_to(of->base + std::min(bytes, of->bytes.size()));
  of->lost = of->base;
}

void Conversation::end(std::int32_t code, std::string message) {
  if (!end_) end_ = AttachEnd{code, std::move(message), 0, 0};
}

// ---- to the client ------------------------------------------------------------------------------

std::optional<AttachBody> Conversation::next_of(Output& output) {
  const auto at = static_cast<std::size_t>(output.sent - output.base);
  if (at == output.bytes.size() && (!output.closed || output.end_told)) return std::nullopt;
  AttachData data{output.stream, output.sent, output.bytes.substr(at, kMaxAttachData), false};
  output.sent += data.bytes.size();
  data.end = output.end_told = output.is_all_sent();
  return data;
}

std::optional<AttachBody> Conversation::next() {
  if (std::exchange(tell_opened_, false)) {
    AttachOpened opened = about_;
    opened.have_input = taken_input();
    return opened;
  }
  if (std::exchange(tell_taken_, false)) return AttachTaken{AttachStream::input, taken_input()};
  if (std::exchange(tell_alive_, false)) return AttachAlive{};
  if (auto data = next_of(output_)) return data;
  if (auto data = next_of(error_)) return data;
  if (!end_ || end_told_ || !output_.is_all_sent() || !error_.is_all_sent()) return std::nullopt;
  end_told_ = true;
  AttachEnd end = *end_;
  end.output = output_.length();
  end.error = error_.length();
  return end;
}

}  // namespace lockstep::runner
