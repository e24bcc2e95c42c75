#pragma once
// The bytes that two nodes exchange on the connections of a probe. The answering side proves with
// the attempt's probe key that it is the node that was meant: the address may be another machine's,
// or the dialling node's own. Numbers are little-endian. No input or output here.
//
//   dialling node                               answering node
//   hello: magic, from, to, greets_only, nonce  -->
//                                         <--   answer: nonce, HMAC of both nonces
//   proof: HMAC of both nonces            -->   (a greeting alone ends here, without a proof)
//   order: ping, number                   -->   the same frame back
//   order: data, count; so many bytes     -->   the same order back, once all have come

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::runner {

inline constexpr std::size_t kTalkNonceBytes = 16;
inline constexpr std::size_t kHelloBytes = 16 + kTalkNonceBytes;
inline constexpr std::size_t kAnswerBytes = kTalkNonceBytes + 32;
inline constexpr std::size_t kProofBytes = 32;
inline constexpr std::size_t kOrderBytes = 8;

struct TalkHello {
  int from = 0, to = 0;  // node ranks
  bool greets_only = false;
  std::string nonce;  // kTalkNonceBytes
};
std::string encode_hello(const TalkHello& hello);
std::optional<TalkHello> decode_hello(std::string_view bytes);  // kHelloBytes

std::string make_answer(std::string_view key, const TalkHello& hello, std::string_view nonce);
bool is_answer(std::string_view key, const TalkHello& hello, std::string_view answer);
std::string make_proof(std::string_view key, const TalkHello& hello, std::string_view answer);

struct TalkOrder {
  enum class Kind : std::uint32_t { ping = 1, data = 2 };
  Kind kind = Kind::ping;
  std::uint32_t value = 0;
  friend bool operator==(const TalkOrder&, const TalkOrder&) = default;
};
std::string encode_order(const TalkOrder& order);
std::optional<TalkOrder> decode_order(std::string_view bytes);  // kOrderBytes

}  // namespace lockstep::runner
