#pragma once
// How an answer is written: a table for people, JSON or YAML for scripts. Pure text in, text out.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/cli/view_json.h"

namespace lockstep::cli {

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

 private:
  std::vector<std::vector<std::string>> rows_;
};

// Text that came from elsewhere, safe for a terminal: control characters but newline and tab become
// '?'.
std::string printable(std::string_view text);
// The same where a newline or a tab would not belong either.
std::string in_one_line(std::string_view text);

}  // namespace lockstep::cli
