#include "envs/docker/dockerfile_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace lockstep::envs {
namespace {

constexpr std::string_view kQuotes = "\"'\\`";

// Unicode's White_Space in UTF-8, without its ASCII characters.
constexpr std::array<std::string_view, 19> kUnicodeBlanks{
    "\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\x80", "\xe2\x80\x81",
    "\xe2\x80\x82", "\xe2\x80\x83", "\xe2\x80\x84", "\xe2\x80\x85", "\xe2\x80\x86",
    "\xe2\x80\x87", "\xe2\x80\x88", "\xe2\x80\x89", "\xe2\x80\x8a", "\xe2\x80\xa8",
    "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80"};

std::string_view without_blanks_before(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(kDockerfileBlanks), text.size()));
}

std::string_view without_blanks_after(std::string_view text) {
  return text.substr(0, text.find_last_not_of(kDockerfileBlanks) + 1);
}

// The number of bytes of the character that begins here.
std::size_t character_size(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t size = first < 0xc2 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (text.size() < size) return 1;
  const auto continues = [](unsigned char c) { return (c & 0xc0) == 0x80; };
  return std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(size), continues)
             ? size
             : 1;
}

}  // namespace

std::vector<DockerfileReading> dockerfile_readings() {
  std::vector<DockerfileReading> all{{'\0', true, true}};
  for (const char escape : {'\\', '`'})
    for (const bool doubled : {true, false})
      for (const bool keeps : {true, false}) all.push_back({escape, doubled, keeps});
  return all;
}

std::vector<std::string_view> dockerfile_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    if (lines.back().ends_with('\r')) lines.back().remove_suffix(1);
    at = end + 1;
  }
  return lines;
}

DockerfileInstruction dockerfile_instruction(const std::vector<std::string_view>& lines,
                                             std::size_t at, const DockerfileReading& reading) {
  DockerfileInstruction read;
  for (std::size_t i = at; i < lines.size(); ++i) {
    std::string_view line = without_blanks_before(lines[i]);
    if (i == at && (line.empty() || line.starts_with('#'))) return {"", at + 1};
    // Empty lines and comments may also be between the lines of one instruction.
    if (line.empty() || line.starts_with('#')) continue;
    if (i != at && reading.keeps_blanks) line = lines[i];
    const std::string_view cut = without_blanks_after(line);
    const bool ends =
        reading.escape == '\0' || !cut.ends_with(reading.escape) ||
        (!reading.takes_doubled && cut.size() > 1 && cut[cut.size() - 2] == reading.escape);
    read.text += ends ? line : cut.substr(0, cut.size() - 1);
    read.next = i + 1;
    if (ends) return read;
  }
  read.next = lines.size();
  return read;
}

std::string_view without_blanks(std::string_view text) {
  return without_blanks_after(without_blanks_before(text));
}

std::vector<std::string> dockerfile_words(std::string_view line) {
  std::vector<std::string> words;
  for (;;) {
    line = without_blanks_before(line);
    if (line.empty()) return words;
    const auto end = std::min(line.find_first_of(kDockerfileBlanks), line.size());
    words.emplace_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

std::string bare_word(std::string_view word) {
  std::string bare(word);
  std::erase_if(bare, [](char c) { return kQuotes.find(c) != kQuotes.npos; });
  return bare;
}

std::size_t unicode_blank(std::string_view text) {
  if (text.empty()) return 0;
  if (text[0] == '\x85' || text[0] == '\xa0') return 1;
  const auto found = std::find_if(kUnicodeBlanks.begin(), kUnicodeBlanks.end(),
                                  [&](std::string_view blank) { return text.starts_with(blank); });
  return found == kUnicodeBlanks.end() ? 0 : found->size();
}

std::string unicode_blank_name(std::string_view blank) {
  const auto bits = [&](std::size_t i) { return static_cast<unsigned char>(blank[i]) & 0x3fU; };
  if (blank.size() == 1)
    return fmt::format("the byte {:02X}", static_cast<unsigned char>(blank[0]));
  if (blank.size() == 2)
    return fmt::format("the character U+{:04X}", (bits(0) & 0x1fU) << 6U | bits(1));
  return fmt::format("the character U+{:04X}", (bits(0) & 0xfU) << 12U | bits(1) << 6U | bits(2));
}

std::size_t find_unicode_blank(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); at += character_size(text.substr(at)))
    if (unicode_blank(text.substr(at)) > 0) return at;
  return text.npos;
}

std::string lower_word(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, char>, 3> kFolded{
      {{"\xc4\xb0", 'i'}, {"\xe2\x84\xaa", 'k'}, {"\xc5\xbf", 's'}}};
  std::string lower;
  for (std::size_t at = 0; at < text.size();) {
    const auto rest = text.substr(at);
    const auto folded = std::find_if(kFolded.begin(), kFolded.end(),
                                     [&](const auto& one) { return rest.starts_with(one.first); });
    const bool is_folded = folded != kFolded.end();
    lower += is_folded ? folded->second
                       : static_cast<char>(std::tolower(static_cast<unsigned char>(text[at])));
    at += is_folded ? folded->first.size() : 1;
  }
  return lower;
}

}  // namespace lockstep::envs
