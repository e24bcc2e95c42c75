#pragma once
// How an answer is written: a table for people, JSON or YAML for scripts. Pure text in, text out.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::cli {

using Json = nlohmann::ordered_json;  // as launcher/api/json makes it

enum class Format { table, json, yaml };
std::optional<Format> format_from(std::string_view word);

// Indented JSON with a newline; bytes that are not UTF-8 become U+FFFD.
std::string json_text(const Json& json);
// The same value as block-style YAML.
std::string yaml_text(const Json& json);

// Left-aligned columns, two spaces apart, no trailing blanks; control characters are shown as '?'.
class Table {
 public:
  explicit Table(std::vector<std::string> header);
  void add(std::vector<std::string> row);  // as many cells as the header
  std::string text() const;
  // The same in at most so many columns, where that is possible: cells of `shrinks` are cut to what
  // is left, but to no less than kLeastCell; then the columns of `drops` are left out, one after
  // the other.
  std::string text(std::size_t columns, const std::vector<std::string>& shrinks,
                   const std::vector<std::string>& drops) const;

  static constexpr std::size_t kLeastCell = 12;

 private:
  std::vector<std::size_t> widths() const;
  std::size_t column(const std::string& header) const;
  void drop(std::size_t column);

  std::vector<std::vector<std::string>> rows_;
};

// Text that came from elsewhere, safe for a terminal: control characters but newline and tab become
// '?'.
std::string printable(std::string_view text);
// The same where a newline or a tab would not belong either; those at its end are left out.
std::string in_one_line(std::string_view text);
// Printable, without newlines at its end; lines after the first are indented by `blanks`.
std::string in_lines(std::string_view text, std::size_t blanks);

// As a POSIX shell takes them, and as docker_args does.
std::string shell_words(const std::vector<std::string>& words);

}  // namespace lockstep::cli
