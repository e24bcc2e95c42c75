#include "launcher/gateway/http/message/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "common/base/cut.h"
#include "common/base/nearest.h"
#include "common/base/printable.h"
#include "common/base/utf8.h"
#include "launcher/gateway/http/message/characters.h"

namespace lockstep::http {
namespace {

Error malformed(std::string message) {
  return make_error(ErrorCode::invalid_argument, std::move(message));
}

std::string shown_text(const std::string& text) {
  constexpr std::size_t kMostBytes = 60;
  return "'" + in_one_line(cut(text, kMostBytes)) + "'";
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = first_character(text).length;
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

Result<std::string> decode_segment(std::string_view raw) {
  TRY_ASSIGN(std::string segment, percent_decode(raw));
  if (segment.find('/') != std::string::npos)
    return malformed("the path has an encoded '/' in a segment; send it as '/'");
  if (segment == "." || segment == "..")
    return malformed("the path has '.' or '..' as a segment; send the path that it stands for");
  return segment;
}

}  // namespace

Result<std::string> percent_decode(std::string_view text, bool plus_is_blank) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (c == '+' && plus_is_blank) c = ' ';
    if (c == '%') {
      const int high = at + 2 < text.size() ? hex_value(text[at + 1]) : -1;
      const int low = at + 2 < text.size() ? hex_value(text[at + 2]) : -1;
      if (high < 0 || low < 0)
        return malformed("the address has a '%' without two hexadecimal digits; write '%' as %25");
      c = static_cast<char>(high * 16 + low);
      at += 2;
    }
    if (is_control(c)) return malformed("the address has an encoded control character");
    decoded += c;
  }
  if (!is_utf8(decoded)) return malformed("the address is not UTF-8 when it is decoded");
  return decoded;
}

std::string percent_encode(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (is_digit(c) || is_letter(c) || c == '-' || c == '.' || c == '_' || c == '~') {
      encoded += c;
    } else {
      fmt::format_to(std::back_inserter(encoded), "%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

Result<Target> parse_target(std::string_view target) {
  if (!target.starts_with('/'))
    return malformed("the target of the request is not a path; it must begin with '/'");
  if (target.find_first_of("#\\") != std::string_view::npos)
    return malformed("the address has a '#' or a '\\' that is not encoded");
  Target result;
  const auto question = target.find('?');
  std::string_view path = target.substr(0, question);
  if (question != std::string_view::npos) {
    TRY_ASSIGN(result.query, Query::parse(target.substr(question + 1)));
  }
  result.path = std::string(path);
  path.remove_prefix(1);
  while (result.path.size() > 1) {
    const auto slash = path.find('/');
    TRY_ASSIGN(std::string segment, decode_segment(path.substr(0, slash)));
    result.segments.push_back(std::move(segment));
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  return result;
}

Result<Query> Query::parse(std::string_view text) {
  Query query;
  while (!text.empty()) {
    const auto end = std::min(text.find('&'), text.size());
    const std::string_view parameter = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (parameter.empty()) continue;
    if (query.parameters_.size() == kMaxParameters)
      return malformed(fmt::format("the address has more than {} parameters", kMaxParameters));
    const auto equals = std::min(parameter.find('='), parameter.size());
    TRY_ASSIGN(std::string name, percent_decode(parameter.substr(0, equals), true));
    const std::string_view raw_value = parameter.substr(std::min(equals + 1, parameter.size()));
    TRY_ASSIGN(std::string value, percent_decode(raw_value, true));
    query.parameters_.emplace_back(std::move(name), std::move(value));
  }
  return query;
}

Result<std::optional<std::string>> Query::one(std::string_view name) const {
  std::optional<std::string> found;
  for (const auto& [each, value] : parameters_) {
    if (each != name) continue;
    if (found) return malformed(fmt::format("the parameter {} is given twice", name));
    found = value;
  }
  return found;
}

std::vector<std::string> Query::all(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [each, value] : parameters_)
    if (each == name) values.push_back(value);
  return values;
}

Result<std::optional<std::uint64_t>> Query::number(std::string_view name,
                                                   std::uint64_t most) const {
  TRY_ASSIGN(const std::optional<std::string> text, one(name));
  if (!text) return std::optional<std::uint64_t>();
  const auto value = parse_decimal(*text);
  if (!value || *value > most)
    return malformed(fmt::format("the parameter {} is {}; it must be a whole number from 0 to {}",
                                 name, shown_text(*text), most));
  return value;
}

Result<bool> Query::flag(std::string_view name, bool absent) const {
  TRY_ASSIGN(const std::optional<std::string> text, one(name));
  if (!text) return absent;
  if (*text != "true" && *text != "false")
    return malformed(
        fmt::format("the parameter {} is {}; it must be true or false", name, shown_text(*text)));
  return *text == "true";
}

Status Query::expect_only(std::initializer_list<std::string_view> known) const {
  for (const auto& [name, value] : parameters_) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string near = nearest(name, std::span(known.begin(), known.size()));
    return malformed(fmt::format("there is no parameter {}{}", shown_text(name),
                                 near.empty() ? "" : fmt::format("; did you mean {}?", near)));
  }
  return {};
}

}  // namespace lockstep::http
