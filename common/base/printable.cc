#include "common/base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/base/marks.h"
#include "common/base/utf8.h"

namespace lockstep {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD
constexpr std::string_view kNoColor = "\x1b[0m";
constexpr std::size_t kMaxColor = 64;    // the most bytes of one colour sequence
constexpr std::size_t kMaxColors = 256;  // the most bytes of the colour sequences in force

struct Range {
  char32_t first, last;
};

// General category Cf, "default ignorable", and separators of lines (Unicode 15), in order.
constexpr Range kHidden[] = {
    {0x00, 0x1F},       {0x7F, 0x9F},       {0xAD, 0xAD},       {0x34F, 0x34F},
    {0x600, 0x605},     {0x61C, 0x61C},     {0x6DD, 0x6DD},     {0x70F, 0x70F},
    {0x890, 0x891},     {0x8E2, 0x8E2},     {0x115F, 0x1160},   {0x17B4, 0x17B5},
    {0x180B, 0x180F},   {0x200B, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},
    {0x3164, 0x3164},   {0xFDD0, 0xFDEF},   {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},
    {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},   {0x110BD, 0x110BD}, {0x110CD, 0x110CD},
    {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
};

bool is_joiner(char32_t code) { return code == 0x200C || code == 0x200D; }
// A variation selector: shows a picture as text or in colours.
bool is_variation(char32_t code) { return code == 0xFE0E || code == 0xFE0F; }

// Characters that a joiner may follow: letters of Arabic, Syriac, Mongolian and Indian scripts, and
// pictures.
bool joins(char32_t code) {
  constexpr Range kJoining[] = {
      {0xA9, 0xA9},     {0xAE, 0xAE},     {0x620, 0x64A},   {0x66E, 0x6D3},    {0x6FA, 0x6FF},
      {0x710, 0x72F},   {0x74D, 0x77F},   {0x8A0, 0x8C9},   {0x904, 0xDFF},    {0x1820, 0x18AA},
      {0x203C, 0x203C}, {0x2049, 0x2049}, {0x2122, 0x2BFF}, {0x1F000, 0x1FAFF}};
  return std::any_of(std::begin(kJoining), std::end(kJoining),
                     [&](const Range& range) { return code >= range.first && code <= range.last; });
}

bool is_plain(char c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\t'; }

// Appends one character after another.
class Writer {
 public:
  explicit Writer(std::size_t size) { out_.reserve(size); }

  // Appends the first character of `text`; returns its number of bytes.
  std::size_t take(std::string_view text) {
    const Utf8Character character = first_character(text);
    if (character.length == 0) {
      out_ += kReplacement;
      before_ = Before::other;
      marks_.forget();
      return std::max<std::size_t>(1, begun_character(text));
    }
    const bool is_lone = marks_.is_lone(character.code);
    if (is_odd_blank(character.code)) {
      out_ += ' ';
    } else if (!is_lone && is_shown(character.code)) {
      out_.append(text, 0, character.length);
    } else {
      out_ += '?';
      marks_.forget();
    }
    before_ = after(character.code);
    return character.length;
  }
  void append(std::string_view text) { out_ += text; }
  std::string take_all() { return std::move(out_); }

 private:
  // The kind of the last character: one that joins, or a variation selector of one.
  enum class Before { other, joining, variation };

  bool is_shown(char32_t code) const {
    if (code == '\n' || code == '\t') return true;
    if (is_variation(code)) return before_ == Before::joining;
    if (is_joiner(code)) return before_ != Before::other;
    return !is_hidden(code);
  }
  Before after(char32_t code) const {
    if (is_variation(code) && is_shown(code)) return Before::variation;
    return joins(code) ? Before::joining : Before::other;
  }

  std::string out_;
  Before before_ = Before::other;
  MarkWatch marks_;
};

// The length of the sequence CSI … m at the beginning; 0: none. `begun`: the text may be the
// beginning of one.
std::size_t color_at(std::string_view text, bool* begun = nullptr) {
  constexpr std::string_view kStart = "\x1b[";
  const std::size_t start = std::min(text.size(), kStart.size());
  if (start == 0 || text.substr(0, start) != kStart.substr(0, start)) return 0;
  const std::size_t end = std::min(text.find_first_not_of("0123456789;:", start), text.size());
  const bool is_color = end < text.size() && start == kStart.size() && text[end] == 'm';
  if (begun != nullptr) *begun = end == text.size() && end < kMaxColor;
  return is_color && end < kMaxColor ? end + 1 : 0;
}

bool is_reset(std::string_view color) {
  return color.find_first_of("123456789") == std::string_view::npos;
}

void change(std::string_view color, std::string* colors) {
  if (is_reset(color) || colors->size() + color.size() > kMaxColors) colors->clear();
  if (!is_reset(color)) *colors += color;
}

}  // namespace

bool is_hidden(char32_t code) {
  const auto* range = std::lower_bound(std::begin(kHidden), std::end(kHidden), code,
                                       [](const Range& r, char32_t c) { return r.last < c; });
  return (range != std::end(kHidden) && code >= range->first) || (code & 0xFFFE) == 0xFFFE;
}

std::string printable(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  Writer out(text.size());
  while (!text.empty()) text.remove_prefix(out.take(text));
  return out.take_all();
}

std::string in_lines(std::string_view text, std::size_t blanks) {
  std::string out = printable(text);
  while (!out.empty() && out.back() == '\n') out.pop_back();
  for (auto at = out.find('\n'); at != std::string::npos; at = out.find('\n', at + 1))
    out.insert(at + 1, blanks, ' ');
  return out;
}

std::string in_one_line(std::string_view text) {
  std::string out = in_lines(text, 0);
  std::replace(out.begin(), out.end(), '\n', ' ');
  std::replace(out.begin(), out.end(), '\t', ' ');
  return out;
}

std::string printable_log(std::string_view text, std::string* colors) {
  if (colors->empty() && std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  Writer out(text.size());
  bool is_colored = false;  // whether the last output set a colour
  while (!text.empty()) {
    if (const std::size_t length = color_at(text); length > 0) {
      change(text.substr(0, length), colors);
      if (std::exchange(is_colored, false)) out.append(kNoColor);
      text.remove_prefix(length);
      continue;
    }
    const std::size_t end = std::min(text.find_first_not_of('\r'), text.size());
    if (end > 0 && (end == text.size() || text[end] == '\n')) {
      text.remove_prefix(end);
      continue;
    }
    const bool is_end = text[0] == '\n';
    if (is_end && std::exchange(is_colored, false)) out.append(kNoColor);
    if (!is_end && !colors->empty() && !std::exchange(is_colored, true)) out.append(*colors);
    text.remove_prefix(out.take(text));
  }
  if (is_colored) out.append(kNoColor);
  return out.take_all();
}

std::size_t showable_log(std::string_view text) {
  std::size_t whole = whole_characters(text);
  while (whole > 0 && text[whole - 1] == '\r') --whole;
  const std::size_t last = whole - std::min(whole, kMaxColor);
  const std::string_view rest = text.substr(last, whole - last);
  const auto escape = rest.rfind('\x1b');
  bool begun = false;
  if (escape != std::string_view::npos) (void)color_at(rest.substr(escape), &begun);
  return begun ? whole - (rest.size() - escape) : whole;
}

std::string escaped_json(std::string json) {
  if (std::all_of(json.begin(), json.end(), is_plain)) return json;
  std::string out;
  out.reserve(json.size());
  MarkWatch marks;
  for (std::string_view rest = json; !rest.empty();) {
    const Utf8Character character = first_character(rest);
    const std::size_t length = std::max<std::size_t>(1, character.length);
    const char32_t code = character.code;
    const bool is_seen = !is_hidden(code) && !is_odd_blank(code);
    if (const bool is_lone = marks.is_lone(code); code < 0x20 || (is_seen && !is_lone)) {
      out.append(rest, 0, length);
    } else if (code < 0x10000) {
      marks.forget();
      out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(code));
    } else {
      marks.forget();
      const auto above = static_cast<std::uint32_t>(code) - 0x10000;
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (above >> 10), 0xDC00 + (above & 0x3FF));
    }
    rest.remove_prefix(length);
  }
  return out;
}

}  // namespace lockstep
