#include "launcher/accounting/grid.h"

#include <algorithm>

#include "common/base/printable.h"
#include "common/base/utf8.h"

namespace lockstep::launcher {
namespace {

std::string csv_cell(std::string_view cell) {
  if (cell.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(cell);
  std::string quoted = "\"";
  for (const char c : cell) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

// In characters: no name here has any that is wider than one column.
std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    text.remove_prefix(std::max<std::size_t>(first_character(text).length, 1));
    ++width;
  }
  return width;
}

}  // namespace

std::string csv_text(const Grid& grid) {
  std::string text;
  for (std::size_t i = 0; i < grid.columns.size(); ++i)
    text += (i == 0 ? "" : ",") + csv_cell(grid.columns[i].name);
  text += '\n';
  for (const auto& row : grid.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) text += (i == 0 ? "" : ",") + csv_cell(row[i]);
    text += '\n';
  }
  return text;
}

std::string table_text(const Grid& grid) {
  std::vector<std::vector<std::string>> lines(1);
  for (const Grid::Column& column : grid.columns) lines[0].push_back(column.name);
  for (const auto& row : grid.rows) {
    lines.emplace_back();
    for (const std::string& cell : row) lines.back().push_back(in_one_line(cell));
  }
  std::vector<std::size_t> widths(grid.columns.size(), 0);
  for (const auto& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], width_of(line[i]));
  std::string text;
  for (const auto& line : lines) {
    std::string whole;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string blanks(widths[i] - width_of(line[i]), ' ');
      if (i > 0) whole += "  ";
      whole += grid.columns[i].is_number ? blanks + line[i] : line[i] + blanks;
    }
    whole.erase(whole.find_last_not_of(' ') + 1);
    text += whole + "\n";
  }
  return text;
}

}  // namespace lockstep::launcher
