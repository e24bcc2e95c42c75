#include "runner/gang/link_stream.h"

#include <utility>

namespace lockstep::runner {
namespace {

constexpr std::uint32_t kMagic = 0x3147534c;  // "LSG1"
constexpr std::size_t kHeaderBytes = 32;

void put(std::string* out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

std::uint64_t get(std::string_view bytes, std::size_t offset, int count) {
  std::uint64_t value = 0;
  for (int i = 0; i < count; ++i) {
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[offset + i])) << (8 * i);
  }
  return value;
}

int get_int(std::string_view bytes, std::size_t offset) {
  return static_cast<int>(static_cast<std::int32_t>(get(bytes, offset, 4)));
}

}  // namespace

std::string encode_frame(const LinkFrame& frame) {
  std::string out;
  out.reserve(kHeaderBytes + frame.payload.size());
  put(&out, kMagic, 4);
  put(&out, static_cast<std::uint32_t>(frame.kind), 4);
  put(&out, static_cast<std::uint32_t>(frame.from), 4);
  put(&out, static_cast<std::uint32_t>(frame.to), 4);
  put(&out, frame.sequence, 8);
  put(&out, frame.acknowledged, 8);
  out += frame.payload;
  return out;
}

std::optional<LinkFrame> decode_frame(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes || get(bytes, 0, 4) != kMagic) return std::nullopt;
  const auto kind = get(bytes, 4, 4);
  if (kind < 1 || kind > 5) return std::nullopt;
  LinkFrame frame;
  frame.kind = static_cast<LinkFrame::Kind>(kind);
  frame.from = get_int(bytes, 8);
  frame.to = get_int(bytes, 12);
  frame.sequence = get(bytes, 16, 8);
  frame.acknowledged = get(bytes, 24, 8);
  frame.payload = std::string(bytes.substr(kHeaderBytes));
  return frame;
}

void LinkStream::push(int from, int to, std::string payload) {
  waiting_.push_back({from, to, std::move(payload)});
}

std::optional<LinkFrame> LinkStream::next() const {
  const std::uint64_t index = cursor_ - first_;
  if (index >= waiting_.size()) return std::nullopt;
  const Item& item = waiting_[index];
  return LinkFrame{LinkFrame::Kind::data, item.from, item.to, cursor_, received_, item.payload};
}

void LinkStream::sent() {
  ++cursor_;
  acknowledged_out_ = received_;
}

LinkFrame LinkStream::control(LinkFrame::Kind kind, int from) const {
  return LinkFrame{kind, from, kToNeighbour, 0, received_, {}};
}

bool LinkStream::accept(const LinkFrame& frame) {
  while (!waiting_.empty() && first_ <= frame.acknowledged) {
    waiting_.pop_front();
    ++first_;
  }
  if (cursor_ < first_) cursor_ = first_;
  switch (frame.kind) {
    case LinkFrame::Kind::beat:
    case LinkFrame::Kind::bye:
    case LinkFrame::Kind::heard: return false;
    case LinkFrame::Kind::resend: rewind(); return false;
    case LinkFrame::Kind::data: break;
  }
  if (frame.sequence == received_ + 1) {
    ++received_;
    gap_ = false;
    return true;
  }
  if (frame.sequence > received_) {
    gap_ = true;
  } else {
    // A repeated frame: our acknowledgement was lost, so it is sent again.
    acknowledged_out_ = received_ - 1;
  }
  return false;
}

void LinkStream::rewind() { cursor_ = first_; }

bool LinkStream::take_gap() { return std::exchange(gap_, false); }

}  // namespace lockstep::runner
