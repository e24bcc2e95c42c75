#include "common/wire/join_token.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/base/digest.h"
#include "common/base/trimmed.h"
#include "common/wire/fields.h"

namespace lockstep::wire {

namespace {

constexpr std::string_view kPrefix = "lockstep-token-1.";
constexpr std::string_view kAnyVersion = "lockstep-token-";
constexpr std::size_t kMaxTokenBytes = 4'096;
constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

constexpr char kSum[] = "sum";
constexpr std::size_t kSumCharacters = 8;

std::string dumped(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// The checksum of all other fields. People copy tokens, and a mistake in its key or its addresses
// would only lead to an address where nobody answers.
std::string sum_of(const nlohmann::json& json) {
  return sha256(dumped(json)).hex().substr(0, kSumCharacters);
}

// Encodes as RFC 4648, section 5, without padding.
std::string to_base64url(std::string_view data) {
  std::string text;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : data) {
    bits = bits << 8 | static_cast<std::uint8_t>(c);
    for (count += 8; count >= 6; count -= 6) text += kAlphabet[bits >> (count - 6) & 63];
  }
  if (count > 0) text += kAlphabet[bits << (6 - count) & 63];
  return text;
}

std::optional<std::string> from_base64url(std::string_view text) {
  std::string data;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const auto value = kAlphabet.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      data += static_cast<char>(bits >> count & 255);
    }
  }
  return data;
}

Error bad_token(const std::string& why) {
  return make_error(ErrorCode::invalid_argument,
                    "the join token " + why + "; make a new one with `lockstep node token`");
}

Result<JoinToken> from_json(const nlohmann::json& json) {
  JoinToken token;
  const auto text = [&](const char* name, std::string* out) {
    const auto it = json.find(name);
    if (it == json.end() || !it->is_string()) return false;
    *out = it->get<std::string>();
    return !out->empty();
  };
  for (const auto& [name, out] :
       {std::pair{"key", &token.launcher_key.value}, std::pair{"join", &token.join_endpoint},
        std::pair{"control", &token.control_endpoint}, std::pair{"bulk", &token.bulk_endpoint},
        std::pair{"secret", &token.secret}})
    if (!text(name, out)) return bad_token(std::string("has no \"") + name + "\"");
  if (const auto key = pb::read_key(token.launcher_key.value, "key", &token.launcher_key); !key)
    return bad_token("holds a launcher key that is not a CURVE key");
  const auto expires = json.find("expires");
  if (expires == json.end() || !expires->is_number_integer())
    return bad_token("has no \"expires\"");
  if (!pb::read_instant(expires->get<std::int64_t>(), "expires", &token.expires))
    return bad_token("has an impossible expiry time");
  return token;
}

}  // namespace

std::string encode(const JoinToken& token) {
  nlohmann::json json = {{"key", token.launcher_key.value},
                         {"join", token.join_endpoint},
                         {"control", token.control_endpoint},
                         {"bulk", token.bulk_endpoint},
                         {"secret", token.secret},
                         {"expires", token.expires.ns}};
  json[kSum] = sum_of(json);
  return std::string(kPrefix) + to_base64url(dumped(json));
}

Result<JoinToken> decode_join_token(std::string_view text) {
  text = trimmed(text);
  if (text.empty()) return bad_token("is empty");
  if (text.size() > kMaxTokenBytes) return bad_token("is too long");
  if (!text.starts_with(kPrefix)) {
    if (text.starts_with(kAnyVersion))
      return make_error(ErrorCode::unsupported,
                        "the join token has another version ('" +
                            std::string(text.substr(0, text.find('.'))) +
                            "'; this program reads 'lockstep-token-1'); install the same Lockstep "
                            "on node and launcher");
    return bad_token("does not start with 'lockstep-token-1.'");
  }
  const auto data = from_base64url(text.substr(kPrefix.size()));
  if (!data) return bad_token("holds a character that a token cannot have");
  auto json = nlohmann::json::parse(*data, nullptr, false);
  if (json.is_discarded() || !json.is_object()) return bad_token("is cut short or damaged");
  if (const auto sum = json.find(kSum); sum != json.end()) {  // older launchers write none
    const std::string told = sum->is_string() ? sum->get<std::string>() : "";
    json.erase(sum);
    if (told != sum_of(json)) return bad_token("was copied with a mistake in it");
  }
  return from_json(json);
}

}  // namespace lockstep::wire
