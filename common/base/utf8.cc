#include "common/base/utf8.h"

#include <algorithm>

namespace lockstep {
namespace {

constexpr std::size_t kLongest = 4;

// By its first byte; 0: no character begins so.
std::size_t length_by_lead(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  return lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
}

// Whether a character that begins with `lead` may go on with `byte` in second place: not if it
// could be written shorter, is half of a pair of UTF-16, or lies beyond U+10FFFF.
bool is_second(unsigned char lead, unsigned char byte) {
  switch (lead) {
    case 0xE0: return byte >= 0xA0 && byte <= 0xBF;
    case 0xED: return byte >= 0x80 && byte <= 0x9F;
    case 0xF0: return byte >= 0x90 && byte <= 0xBF;
    case 0xF4: return byte >= 0x80 && byte <= 0x8F;
    default: return byte >= 0x80 && byte <= 0xBF;
  }
}

// How many bytes at the beginning fit to each other, up to the length of the character.
std::size_t fitting_bytes(std::string_view text, std::size_t length) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  std::size_t fitting = 1;
  while (fitting < length && fitting < text.size() &&
         (fitting == 1 ? is_second(byte(0), byte(1)) : (byte(fitting) & 0xC0) == 0x80))
    ++fitting;
  return fitting;
}

bool goes_on(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

Utf8Character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = length_by_lead(lead);
  if (length == 0 || fitting_bytes(text, length) < length) return {};
  char32_t code = length == 1 ? lead : lead & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i)
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3Fu);
  return {code, length};
}

std::size_t begun_character(std::string_view text) {
  if (text.empty()) return 0;
  const std::size_t length = length_by_lead(static_cast<unsigned char>(text[0]));
  if (length == 0) return 0;
  const std::size_t fitting = fitting_bytes(text, length);
  return fitting < length ? fitting : 0;
}

std::size_t whole_characters(std::string_view text) {
  const std::size_t last = text.size() - std::min(text.size(), kLongest - 1);
  for (std::size_t at = text.size(); at-- > last;) {
    if (goes_on(text[at])) continue;
    return begun_character(text.substr(at)) == text.size() - at ? at : text.size();
  }
  return text.size();
}

std::string_view head(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  const std::string_view first = text.substr(0, limit);
  return first.substr(0, whole_characters(first));
}

std::string_view tail(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  const std::size_t cut = text.size() - limit;
  const std::size_t before = whole_characters(text.substr(0, cut));
  if (before == cut) return text.substr(cut);
  const std::size_t length = first_character(text.substr(before)).length;
  return text.substr(length == 0 ? cut : before + length);
}

}  // namespace lockstep
