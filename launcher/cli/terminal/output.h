#pragma once
// Formats an answer: as a table for people, or as JSON or YAML for scripts. Pure.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/printable.h"

namespace lockstep::cli {

using Json = nlohmann::ordered_json;  // the JSON of launcher/api/json

enum class Format {
  table,  // for people, in a form of each verb
  json,
  yaml,
  tsv,      // a line for each element, its values separated by tabs
  records,  // a table of the JSON: what `-o table` is for the result of a query
};
std::optional<Format> format_from(std::string_view word);  // "table", "json", "yaml" or "tsv"

// Makes indented JSON with a newline; bytes that are not UTF-8 become U+FFFD, and characters that a
// terminal would obey or not show are escaped.
std::string json_text(const Json& json);
// The same JSON in one line, without a newline.
std::string json_line(const Json& json);
// The same value as block-style YAML.
std::string yaml_text(const Json& json);
// Makes a line for each element of a list, or one line; the values of an object or list are
// separated by tabs. Null is empty; deeper values are compact JSON. No text breaks a line or a
// column.
std::string tsv_text(const Json& json);
// Makes a row for each element of a list, or one row, with the keys as header; without nested
// values.
std::string records_text(const Json& json);

// A table with left-aligned columns, two spaces apart, without trailing blanks; the cells are
// printable.
class Table {
 public:
  explicit Table(std::vector<std::string> header);
  void add(std::vector<std::string> row);  // as many cells as the header
  std::string text() const;
  // The table in at most `columns` characters per line, if possible. Cells in the columns `shrinks`
  // are shortened, but not below kLeastCell. If that is not enough, the columns `drops` are left
  // out, one after the other.
  std::string text(std::size_t columns, const std::vector<std::string>& shrinks,
                   const std::vector<std::string>& drops) const;

  static constexpr std::size_t kLeastCell = 12;

 private:
  std::vector<std::size_t> widths() const;
  std::size_t column(const std::string& header) const;
  void drop(std::size_t column);

  std::vector<std::vector<std::string>> rows_;
};

// Quotes and joins words so that a POSIX shell and docker_args split them into the same words.
std::string shell_words(const std::vector<std::string>& words);

}  // namespace lockstep::cli
