#include "launcher/cli/terminal/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "common/base/check.h"
#include "common/base/marks.h"
#include "common/base/utf8.h"

namespace lockstep::cli {

namespace {

constexpr auto kReplace = Json::error_handler_t::replace;

std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

// Cuts the text to `width` columns; a cut text ends in "…".
std::string shortened(const std::string& text, std::size_t width) {
  if (width_of(text) <= width) return text;
  std::size_t at = 0;
  for (std::size_t shown = 0; shown + 1 < width; ++shown) {
    ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  }
  return text.substr(0, at) + "…";
}

// Whether a text may be written bare: every YAML reader takes it for a string. Others are quoted as
// in JSON, which is valid YAML.
bool may_stand_bare(const std::string& text) {
  if (text.empty() || text.size() > 200) return false;
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto safe = [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == '/';
  };
  if (!letter(text[0]) || !std::all_of(text.begin(), text.end(), safe)) return false;
  std::string lower = text;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (std::string_view word : {"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
    if (lower == word) return false;
  return true;
}

// Writes a JSON string for YAML, whose readers do not combine pairs of escapes.
std::string yaml_quoted(const std::string& text) {
  std::string out;
  MarkWatch marks;
  for (std::string_view rest = text; !rest.empty();) {
    const Utf8Character character = first_character(rest);  // unchanged from JSON's writer
    const bool is_lone = marks.is_lone(character.code);
    if (!is_lone && !is_hidden(character.code) && !is_odd_blank(character.code)) {
      out.append(rest, 0, character.length);
    } else {
      marks.forget();
      const auto code = static_cast<std::uint32_t>(character.code);
      out += code < 0x10000 ? fmt::format("\\u{:04x}", code) : fmt::format("\\U{:08x}", code);
    }
    rest.remove_prefix(std::max<std::size_t>(1, character.length));
  }
  return out;
}

std::string yaml_scalar(const Json& json) {
  if (json.is_string() && may_stand_bare(json.get_ref<const std::string&>()))
    return json.get<std::string>();
  std::string text = json.dump(-1, ' ', false, kReplace);
  if (json.is_string()) return yaml_quoted(text);
  // YAML 1.1 reads 1.0e-06 as a number, but 1e-06 as a text.
  const auto exponent = text.find('e');
  if (json.is_number_float() && exponent != std::string::npos && text.find('.') > exponent)
    text.insert(exponent, ".0");
  return text;
}

// The longest key that is written before a colon, which YAML limits; longer ones are written after
// a question mark.
constexpr std::size_t kMaxPlainKey = 500;

std::string yaml_key(const std::string& key, const std::string& blanks) {
  const std::string text = yaml_scalar(Json(key));
  if (text.size() <= kMaxPlainKey) return text + ":";
  return "? " + text + "\n" + blanks + ":";
}

void write_yaml(const Json& json, std::size_t indent, std::string& out) {
  const std::string blanks(indent, ' ');
  const auto write_child = [&](const Json& child, bool in_list) {
    if (!child.is_structured() || child.empty()) {
      out += " " + yaml_scalar(child) + "\n";
    } else if (in_list) {  // the first key is on the line of the dash
      std::string block;
      write_yaml(child, indent + 2, block);
      out += " " + block.substr(indent + 2);
    } else {
      out += "\n";
      write_yaml(child, indent + 2, out);
    }
  };
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) {
      out += blanks + yaml_key(key, blanks);
      write_child(value, false);
    }
  } else {
    for (const auto& item : json) {
      out += blanks + "-";
      write_child(item, true);
    }
  }
}

}  // namespace

std::optional<Format> format_from(std::string_view word) {
  if (word == "table") return Format::table;
  if (word == "json") return Format::json;
  if (word == "yaml") return Format::yaml;
  if (word == "tsv") return Format::tsv;
  return std::nullopt;
}

std::string json_text(const Json& json) {
  return escaped_json(json.dump(2, ' ', false, kReplace)) + "\n";
}

std::string json_line(const Json& json) {
  return escaped_json(json.dump(-1, ' ', false, kReplace));
}

std::string yaml_text(const Json& json) {
  if (!json.is_structured() || json.empty()) return yaml_scalar(json) + "\n";
  std::string out;
  write_yaml(json, 0, out);
  return out;
}

namespace {

std::string cell_of(const Json& json) {
  if (json.is_null()) return "";
  return in_one_line(json.is_string() ? json.get<std::string>() : json_line(json));
}

// The rows of a table: the elements of a list, or the value itself.
Json rows_of(const Json& json) {
  if (json.is_array()) return json;
  return json.is_null() ? Json::array() : Json::array({json});
}

// The header of a key: "display_name" becomes "DISPLAY NAME".
std::string header_of(const std::string& key) {
  std::string header = key;
  for (char& c : header)
    c = c == '_' ? ' ' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return in_one_line(header);
}

// The names of the values in a row that fit into a cell.
std::vector<std::string> columns_of(const Json& row) {
  std::vector<std::string> columns;
  if (row.is_array()) {
    for (std::size_t i = 0; i < row.size(); ++i)
      columns.push_back("column " + std::to_string(i + 1));
  } else if (row.is_object()) {
    for (const auto& [key, value] : row.items())
      if (!value.is_structured()) columns.push_back(key);
  } else {
    columns.emplace_back("result");
  }
  return columns;
}

Json value_in(const Json& row, const std::string& column, std::size_t at) {
  if (row.is_object()) return row.contains(column) ? row[column] : Json();
  if (row.is_array()) return at < row.size() ? row[at] : Json();
  return at == 0 ? row : Json();
}

}  // namespace

std::string tsv_text(const Json& json) {
  std::string text;
  for (const Json& row : rows_of(json)) {
    std::string line;
    bool is_first = true;
    for (const Json& value : row.is_structured() ? row : Json::array({row})) {
      if (!is_first) line += '\t';
      is_first = false;
      line += cell_of(value);
    }
    text += line + "\n";
  }
  return text;
}

std::string records_text(const Json& json) {
  const Json rows = rows_of(json);
  std::vector<std::string> columns, header;
  for (const Json& row : rows)
    for (std::string& column : columns_of(row))
      if (std::find(columns.begin(), columns.end(), column) == columns.end())
        columns.push_back(std::move(column));
  if (columns.empty()) return "";
  for (const std::string& column : columns) header.push_back(header_of(column));
  Table table(std::move(header));
  for (const Json& row : rows) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < columns.size(); ++i)
      cells.push_back(cell_of(value_in(row, columns[i], i)));
    table.add(std::move(cells));
  }
  return table.text();
}

Table::Table(std::vector<std::string> header) { rows_.push_back(std::move(header)); }

void Table::add(std::vector<std::string> row) {
  CHECK(row.size() == rows_[0].size(), "a row has as many cells as the header");
  for (auto& cell : row) {
    cell = in_one_line(cell);
  }
  rows_.push_back(std::move(row));
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths(rows_[0].size());
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  return widths;
}

std::size_t Table::column(const std::string& header) const {
  const auto found = std::find(rows_[0].begin(), rows_[0].end(), header);
  CHECK(found != rows_[0].end(), "a column of this table");
  return static_cast<std::size_t>(found - rows_[0].begin());
}

void Table::drop(std::size_t column) {
  for (auto& row : rows_) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
}

std::string Table::text(std::size_t columns, const std::vector<std::string>& shrinks,
                        const std::vector<std::string>& drops) const {
  Table fit = *this;
  // The columns by which the table is too wide if every shrinking cell has `least` columns, or
  // fewer if it needs fewer.
  const auto excess = [&](std::size_t least) {
    std::vector<std::size_t> widths = fit.widths();
    for (const std::string& header : shrinks) {
      const auto found = std::find(fit.rows_[0].begin(), fit.rows_[0].end(), header);
      if (found == fit.rows_[0].end()) continue;
      std::size_t& width = widths[static_cast<std::size_t>(found - fit.rows_[0].begin())];
      width = std::min(width, std::max(least, width_of(header)));
    }
    std::size_t all = 2 * (widths.size() - 1);
    for (const std::size_t width : widths) all += width;
    return all > columns ? all - columns : 0;
  };
  for (const std::string& header : drops)
    if (excess(kLeastCell) > 0) fit.drop(fit.column(header));
  std::size_t most = columns;
  while (most > kLeastCell && excess(most) > 0) --most;
  for (const std::string& header : shrinks) {
    const auto found = std::find(fit.rows_[0].begin(), fit.rows_[0].end(), header);
    if (found == fit.rows_[0].end()) continue;
    const auto at = static_cast<std::size_t>(found - fit.rows_[0].begin());
    for (auto& row : fit.rows_) row[at] = shortened(row[at], std::max(most, width_of(header)));
  }
  return fit.text();
}

std::string Table::text() const {
  const std::vector<std::size_t> widths = this->widths();
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - width_of(row[i]) + 2, ' ');
    }
    line.resize(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string shell_words(const std::vector<std::string>& words) {
  constexpr std::string_view kPlain = "%+,-./:=@_";
  const auto is_plain = [&](unsigned char c) {
    return std::isalnum(c) != 0 || c >= 0x80 || kPlain.find(static_cast<char>(c)) != kPlain.npos;
  };
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += '\'';
  }
  return text;
}

}  // namespace lockstep::cli
