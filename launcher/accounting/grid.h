#pragma once
// Rows of cells, as comma-separated values for programs and as a table for people. Pure.

#include <string>
#include <string_view>
#include <vector>

namespace lockstep::launcher {

struct Grid {
  struct Column {
    std::string name;
    bool is_number = false;  // to the right, in a table
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  // each has as many cells as there are columns
};

// RFC 4180, with "\n" at the ends of lines: a header, then the rows. A cell with a comma, a quote
// or a line end is in quotes.
std::string csv_text(const Grid& grid);

// Columns two spaces apart, with a header; no blanks at the ends of lines. Cells are made
// printable.
std::string table_text(const Grid& grid);

}  // namespace lockstep::launcher
