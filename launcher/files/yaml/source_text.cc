// The text of a file and positions in it (Source of yaml/tree.h), and whether it is text at all.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "common/base/utf8.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

std::string Source::where(const Place& place) const {
  if (place.override_text && place.override_text->starts_with("--")) return *place.override_text;
  if (place.override_text) return "--set " + *place.override_text;
  const Source& file = of(place);
  return fmt::format("{}:{}:{}", file.name, place.line, file.column_of(place));
}

// The column of a place. yaml-cpp counts bytes, but people count characters. Reads only the line,
// because a large file may have many places.
int Source::column_of(const Place& place) const {
  if (place.offset == 0 || place.offset > text.size()) return place.column;
  const auto end = text.rfind('\n', place.offset - 1);
  const std::string_view before =
      text.substr(0, place.offset).substr(end == std::string_view::npos ? 0 : end + 1);
  const auto is_first_byte = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  return 1 + static_cast<int>(std::count_if(before.begin(), before.end(), is_first_byte));
}

std::string Source::beside(const std::string& path) const {
  return (std::filesystem::path(name).parent_path() / path).lexically_normal().string();
}

Error Source::error(const Place& place, std::string_view message, ErrorCode code) const {
  return make_error(code, fmt::format("{}: {}", where(place), message));
}

Place Source::place_of(std::size_t offset) const {
  Place place;
  place.offset = offset;
  for (std::size_t i = 0; i < offset && i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '\n') {
      ++place.line;
      place.column = 1;
    } else if ((c & 0xC0) != 0x80) {
      ++place.column;
    }
  }
  return place;
}

std::string_view without_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  return text.rfind(kMark, 0) == 0 ? text.substr(kMark.size()) : text;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = first_character(text).length;
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

Status check_text(const Source& source) {
  const std::string_view text = source.text;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = first_character(text.substr(at)).length;
    if (length == 0)
      return source.error(source.place_of(at),
                          has_utf16_mark(text) ? "is not UTF-8 text but begins as UTF-16; save the "
                                                 "file as UTF-8"
                                               : "is not UTF-8 text; save the file as UTF-8");
    const auto c = static_cast<unsigned char>(text[at]);
    if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F)
      return source.error(source.place_of(at),
                          fmt::format("contains the control character 0x{:02x}", c));
    at += length;
  }
  return {};
}

}  // namespace lockstep::spec
