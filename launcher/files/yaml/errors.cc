#include "launcher/files/yaml/errors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "common/base/trimmed.h"

namespace lockstep::spec {

namespace {

constexpr std::size_t kMaxShownBytes = 40;

std::string_view line_of(std::string_view text, int line) {
  for (int i = 1; i < line; ++i) {
    const auto newline = text.find('\n');
    if (newline == std::string_view::npos) return {};
    text.remove_prefix(newline + 1);
  }
  return text.substr(0, text.find('\n'));
}

std::size_t indentation(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

// Whether the line is neither empty nor a comment.
bool has_content(std::string_view line) {
  const auto first = line.find_first_not_of(" \t\r");
  return first != std::string_view::npos && line[first] != '#';
}

std::string shown(std::string_view line) {
  const std::string_view words = trimmed(line);
  return words.size() <= kMaxShownBytes ? std::string(words)
                                        : std::string(words.substr(0, kMaxShownBytes)) + "…";
}

bool is_item(std::string_view words) { return words == "-" || words.starts_with("- "); }

// The position after the colon of "key: value"; npos: the line has no such colon.
std::size_t colon_of(std::string_view line) {
  for (std::size_t at = line.find(':'); at != std::string_view::npos; at = line.find(':', at + 1))
    if (at + 1 == line.size() || line[at + 1] == ' ' || line[at + 1] == '\r') return at + 1;
  return std::string_view::npos;
}

// The last line above `line` that has content; 0: none.
int line_above(std::string_view text, int line) {
  for (int above = line - 1; above > 0; --above)
    if (has_content(line_of(text, above))) return above;
  return 0;
}

// Finds a tab in the indentation, which is reported because yaml-cpp's error for it is unclear.
std::optional<Place> tab_in_indentation(std::string_view text, int near_line) {
  for (int line = std::max(1, near_line - 1); line <= near_line + 1; ++line) {
    const std::string_view content = line_of(text, line);
    const auto first = content.find_first_not_of(' ');
    if (first != std::string_view::npos && content[first] == '\t')
      return Place{line, static_cast<int>(first) + 1, 0, {}};
  }
  return std::nullopt;
}

// The text around `at`, up to the marks of a list or mapping in brackets.
std::string_view word_around(std::string_view text, std::size_t at) {
  const auto begin = text.find_last_of(" \t\r\n,[{", at) + 1;
  return text.substr(begin, text.find_first_of(" \t\r\n,]}", at) - begin);
}

// Finds a bracket that is open at the end of the text, ignoring quotes and comments.
std::optional<std::size_t> open_bracket(std::string_view text) {
  std::vector<std::size_t> open;
  char quote = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool begins_word =
        at == 0 || std::string_view(" \t\n[{,:").find(text[at - 1]) != std::string_view::npos;
    if (quote != 0) {
      if (quote == '"' && c == '\\')
        ++at;
      else if (c == quote)
        quote = 0;
    } else if ((c == '"' || c == '\'') && begins_word) {
      quote = c;
    } else if (c == '#' && begins_word) {
      at = std::min(text.find('\n', at), text.size());
    } else if ((c == '[' || c == '{') && (begins_word || !open.empty())) {
      open.push_back(at);
    } else if ((c == ']' || c == '}') && !open.empty()) {
      open.pop_back();
    }
  }
  if (open.empty()) return std::nullopt;
  return open.back();
}

// The columns, from 1, of groups that are still open above `line`.
std::set<std::size_t> columns_above(std::string_view text, int line) {
  std::set<std::size_t> columns;
  for (int i = 1; i < line; ++i) {
    const std::string_view content = line_of(text, i);
    if (!has_content(content)) continue;
    const std::size_t column = indentation(content) + 1;
    columns.erase(columns.upper_bound(column), columns.end());
    columns.insert(column);
  }
  return columns;
}

// The error if a key or an item was expected here.
std::string out_of_place(const Source& source, const Place& place) {
  const std::string_view line = line_of(source.text, place.line);
  const auto column = static_cast<std::size_t>(place.column);
  if (column != indentation(line) + 1)
    return fmt::format(
        "'{}' follows a value that has already ended; put quotes around the whole value",
        shown(line.substr(std::min(column - 1, line.size()))));
  const auto columns = columns_above(source.text, place.line);
  if (columns.count(column) == 0)
    return fmt::format(
        "this line begins in column {}, but the groups above it begin in column{} {}; indent it to "
        "{}, because all keys of one mapping begin in the same column",
        column, columns.size() == 1 ? "" : "s", fmt::join(columns, ", "),
        columns.size() == 1 ? "that column" : "one of these columns");
  if (is_item(trimmed(line)))
    return "a list item ('- …') is among keys; indent it below the key that it belongs to";
  return fmt::format("'{}' is a key among list items; indent it, or begin it with '- '",
                     shown(line));
}

// The error for a colon that cannot be here; mostly the cause is in the line above.
Error misplaced_colon(const Source& source, const Place& place) {
  const std::string_view line = line_of(source.text, place.line);
  const std::size_t first = colon_of(line);
  if (first != std::string_view::npos && first < static_cast<std::size_t>(place.column))
    return source.error(
        place,
        fmt::format(
            "bad YAML: a second ': ' in one line; if it belongs to the value, put quotes around "
            "the value; if a group begins here, put '{}' on an indented line of its own",
            shown(line.substr(first))));
  const int above = line_above(source.text, place.line);
  if (above == 0) return source.error(place, "bad YAML: this ':' has no key before it");
  const std::string_view before = line_of(source.text, above);
  const Place there{above, static_cast<int>(indentation(before)) + 1, 0, {}};
  if (colon_of(before) == std::string_view::npos)
    return source.error(there,
                        fmt::format("bad YAML: '{}' has no ': ' between a key and its value; "
                                    "write 'key: value'",
                                    shown(before)));
  const Place here{place.line, static_cast<int>(indentation(line)) + 1, 0, {}};
  return source.error(
      here, fmt::format("bad YAML: this line is indented below '{}', which already has a value; if "
                        "this is a key of the same group, begin it in column {}",
                        shown(before), there.column));
}

}  // namespace

Error syntax_error(const Source& source, const Place& place, const std::string& problem) {
  if (const auto tab = tab_in_indentation(source.text, place.line))
    return source.error(*tab, "bad YAML: a tab in the indentation; use spaces");
  const bool is_flow =
      problem == "end of map flow not found" || problem == "end of sequence flow not found";
  if (const auto open = open_bracket(source.text); is_flow && open)
    return source.error(source.place_of(*open),
                        fmt::format("bad YAML: this '{}' is never closed", source.text[*open]));
  if (problem == "end of map not found" || problem == "end of sequence not found")
    return source.error(place, "bad YAML: " + out_of_place(source, place));
  if (problem == "illegal map value") return misplaced_colon(source, place);
  if (problem == "illegal flow end")
    return source.error(place, "bad YAML: this bracket has no opening bracket");
  if (problem == "illegal block entry")
    return source.error(
        place, "bad YAML: a list item ('- …') must begin its line; put it on a line of its own");
  // yaml-cpp accepts a '?' outside of brackets.
  const bool is_question = place.offset < source.text.size() && source.text[place.offset] == '?';
  if (is_question && problem == "unknown token")
    return source.error(place,
                        fmt::format("bad YAML: a text with a '?' in brackets needs quotes: '{}'",
                                    word_around(source.text, place.offset)));
  if (problem == "unknown token")
    return source.error(
        place, fmt::format("bad YAML: a value cannot begin with '{}'; put the value in quotes",
                           shown(word_around(source.text, place.offset))));
  return source.error(place, "bad YAML: " + problem);
}

}  // namespace lockstep::spec
