#include "common/base/utf8.h"

#include <algorithm>

namespace lockstep {
namespace {

constexpr std::size_t kLongest = 4;

// The length of the character that has this first byte; 0: no character begins with it.
std::size_t length_by_lead(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  return lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
}

// Whether `byte` may follow `lead`. It may not if the character could be written shorter, is half
// of a UTF-16 pair, or is above U+10FFFF.
bool is_second(unsigned char lead, unsigned char byte) {
  switch (lead) {
    case 0xE0: return byte >= 0xA0 && byte <= 0xBF;
    case 0xED: return byte >= 0x80 && byte <= 0x9F;
    case 0xF0: return byte >= 0x90 && byte <= 0xBF;
    case 0xF4: return byte >= 0x80 && byte <= 0x8F;
    default: return byte >= 0x80 && byte <= 0xBF;
  }
}

// The number of valid bytes at the beginning, up to the length of the character.
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

bool has_utf16_mark(std::string_view text) {
  return text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff");
}

namespace {

void append_utf8(char32_t code, std::string& text) {
  const auto byte = [&](char32_t bits) { text += static_cast<char>(bits); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) {
    byte(0xC0 | (code >> 6));
  } else if (code < 0x10000) {
    byte(0xE0 | (code >> 12));
    byte(0x80 | ((code >> 6) & 0x3F));
  } else {
    byte(0xF0 | (code >> 18));
    byte(0x80 | ((code >> 12) & 0x3F));
    byte(0x80 | ((code >> 6) & 0x3F));
  }
  byte(0x80 | (code & 0x3F));
}

}  // namespace

std::optional<std::string> from_utf16(std::string_view text) {
  if (!has_utf16_mark(text) || text.size() % 2 != 0) return std::nullopt;
  const std::size_t high = text[0] == '\xfe' ? 0 : 1;  // index of the high byte in each pair
  const auto unit_at = [&](std::size_t at) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    return static_cast<char32_t>(byte(at + high) << 8 | byte(at + 1 - high));
  };
  std::string converted;
  for (std::size_t at = 2; at < text.size(); at += 2) {
    char32_t code = unit_at(at);
    const bool leads = code >= 0xD800 && code < 0xDC00;
    if (leads) {
      at += 2;
      const char32_t low = at < text.size() ? unit_at(at) : 0;
      if (low < 0xDC00 || low > 0xDFFF) return std::nullopt;
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xDC00 && code < 0xE000) {
      return std::nullopt;
    }
    append_utf8(code, converted);
  }
  return converted;
}

}  // namespace lockstep
