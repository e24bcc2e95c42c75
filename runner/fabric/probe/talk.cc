#include "runner/fabric/probe/talk.h"

#include <algorithm>

#include "common/base/digest.h"

namespace lockstep::runner {
namespace {

constexpr std::uint32_t kHelloMagic = 0x3148504c;  // "LPH1"

void put(std::string& to, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) to += static_cast<char>((value >> shift) & 0xff);
}

std::uint32_t get(std::string_view bytes, std::size_t offset) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[offset + i])) << (8 * i);
  return value;
}

// Computes an HMAC (RFC 2104), for keys of at most one block.
std::string keyed_digest(std::string_view key, std::string_view text) {
  constexpr std::size_t kBlock = 64;
  std::string inner(kBlock, '\x36'), outer(kBlock, '\x5c');
  for (std::size_t i = 0; i < std::min(key.size(), kBlock); ++i) {
    inner[i] = static_cast<char>(inner[i] ^ key[i]);
    outer[i] = static_cast<char>(outer[i] ^ key[i]);
  }
  inner += text;
  outer += sha256(inner).view();
  return std::string(sha256(outer).view());
}

// Takes the same time wherever the texts differ.
bool are_equal(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

std::string digest_for(std::string_view who, std::string_view key, const TalkHello& hello,
                       std::string_view answering_nonce) {
  std::string text(who);
  text += encode_hello(hello);
  text += answering_nonce;
  return keyed_digest(key, text);
}

}  // namespace

std::string encode_hello(const TalkHello& hello) {
  std::string bytes;
  put(bytes, kHelloMagic);
  put(bytes, static_cast<std::uint32_t>(hello.from));
  put(bytes, static_cast<std::uint32_t>(hello.to));
  put(bytes, hello.greets_only ? 1 : 0);
  return bytes + hello.nonce;
}

std::optional<TalkHello> decode_hello(std::string_view bytes) {
  if (bytes.size() != kHelloBytes || get(bytes, 0) != kHelloMagic) return std::nullopt;
  TalkHello hello;
  hello.from = static_cast<int>(get(bytes, 4));
  hello.to = static_cast<int>(get(bytes, 8));
  hello.greets_only = get(bytes, 12) != 0;
  hello.nonce = bytes.substr(16);
  return hello;
}

std::string make_answer(std::string_view key, const TalkHello& hello, std::string_view nonce) {
  return std::string(nonce) + digest_for("answer", key, hello, nonce);
}

bool is_answer(std::string_view key, const TalkHello& hello, std::string_view answer) {
  if (answer.size() != kAnswerBytes) return false;
  return are_equal(answer, make_answer(key, hello, answer.substr(0, kTalkNonceBytes)));
}

std::string make_proof(std::string_view key, const TalkHello& hello, std::string_view answer) {
  return digest_for("proof", key, hello, answer.substr(0, kTalkNonceBytes));
}

std::string encode_order(const TalkOrder& order) {
  std::string bytes;
  put(bytes, static_cast<std::uint32_t>(order.kind));
  put(bytes, order.value);
  return bytes;
}

std::optional<TalkOrder> decode_order(std::string_view bytes) {
  if (bytes.size() != kOrderBytes) return std::nullopt;
  const std::uint32_t kind = get(bytes, 0);
  if (kind != static_cast<std::uint32_t>(TalkOrder::Kind::ping) &&
      kind != static_cast<std::uint32_t>(TalkOrder::Kind::data))
    return std::nullopt;
  return TalkOrder{static_cast<TalkOrder::Kind>(kind), get(bytes, 4)};
}

}  // namespace lockstep::runner
