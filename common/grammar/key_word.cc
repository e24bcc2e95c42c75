#include "common/grammar/key_word.h"

#include <array>
#include <cstdint>
#include <optional>

#include "common/base/digest.h"

namespace lockstep {
namespace {

constexpr std::string_view kPrefix = "lskey";
constexpr std::string_view kBase32 = "abcdefghijklmnopqrstuvwxyz234567";  // RFC 4648
constexpr std::string_view kZ85 =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";
constexpr std::size_t kKeyBytes = 32, kZ85Characters = 40, kBodyCharacters = 52,
                      kCheckCharacters = 4;

using KeyBytes = std::array<unsigned char, kKeyBytes>;

// Reads ZeroMQ RFC 32: four bytes, the most significant first, become five digits of base 85.
std::optional<KeyBytes> from_z85(std::string_view text) {
  if (text.size() != kZ85Characters) return std::nullopt;
  KeyBytes bytes{};
  for (std::size_t group = 0; group < kKeyBytes / 4; ++group) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 5; ++i) {
      const auto digit = kZ85.find(text[group * 5 + i]);
      if (digit == std::string_view::npos) return std::nullopt;
      value = value * 85 + digit;
    }
    if (value > UINT32_MAX) return std::nullopt;
    for (std::size_t i = 0; i < 4; ++i)
      bytes[group * 4 + i] = static_cast<unsigned char>(value >> (24 - 8 * i));
  }
  return bytes;
}

std::string to_z85(const KeyBytes& bytes) {
  std::string text;
  for (std::size_t group = 0; group < kKeyBytes / 4; ++group) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8 | bytes[group * 4 + i];
    std::array<char, 5> digits{};
    for (std::size_t i = digits.size(); i-- > 0; value /= 85) digits[i] = kZ85[value % 85];
    text.append(digits.data(), digits.size());
  }
  return text;
}

std::string to_base32(const unsigned char* bytes, std::size_t count, std::size_t characters) {
  std::string text;
  std::uint32_t bits = 0;
  int held = 0;
  for (std::size_t i = 0; text.size() < characters;) {
    if (held < 5) {
      bits = bits << 8 | (i < count ? bytes[i] : 0u);
      ++i;
      held += 8;
    }
    held -= 5;
    text.push_back(kBase32[bits >> held & 31]);
  }
  return text;
}

std::string checksum(const KeyBytes& bytes) {
  const Digest digest = sha256({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  return to_base32(reinterpret_cast<const unsigned char*>(digest.view().data()), 3,
                   kCheckCharacters);
}

std::optional<KeyBytes> from_base32(std::string_view text) {
  KeyBytes bytes{};
  std::uint32_t bits = 0;
  int held = 0;
  std::size_t at = 0;
  for (const char c : text) {
    const auto digit = kBase32.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = (bits << 5 | static_cast<std::uint32_t>(digit)) & 0xfff;
    held += 5;
    if (held < 8) continue;
    held -= 8;
    if (at < bytes.size()) bytes[at++] = static_cast<unsigned char>(bits >> held);
  }
  if (at != bytes.size()) return std::nullopt;
  return bytes;
}

Error bad(std::string why) { return make_error(ErrorCode::invalid_argument, std::move(why)); }

}  // namespace

std::string key_word(const PublicKey& key) {
  const auto bytes = from_z85(key.value);
  if (!bytes) return key.value;
  return std::string(kPrefix) + to_base32(bytes->data(), bytes->size(), kBodyCharacters) +
         checksum(*bytes);
}

Result<PublicKey> key_from_word(std::string_view text) {
  if (!text.starts_with(kPrefix) && from_z85(text)) return PublicKey(std::string(text));
  if (!text.starts_with(kPrefix))
    return bad(
        "this is not a public key: copy the word that begins with 'lskey', which "
        "`lockstep user key show` prints");
  if (text.size() != kPrefix.size() + kBodyCharacters + kCheckCharacters)
    return bad("this public key has " + std::to_string(text.size()) +
               " characters instead of 61: part of it is missing, or something was added");
  const auto bytes = from_base32(text.substr(kPrefix.size(), kBodyCharacters));
  // Also refuses a word with bits set that belong to no byte, so that each key has only one word.
  if (!bytes || key_word(PublicKey(to_z85(*bytes))) != text)
    return bad("this public key has a wrong character: its checksum does not match; copy it again");
  return PublicKey(to_z85(*bytes));
}

}  // namespace lockstep
