// Rows of cells as comma-separated values, which a reader gives back as they were, and as tables.

#include "launcher/accounting/grid.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/hostile_text.h"

namespace lockstep::launcher {
namespace {

// By RFC 4180.
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, {""});
  bool is_quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"')
      rows.back().back() += text[++i];
    else if (c == '"')
      is_quoted = !is_quoted;
    else if (c == ',' && !is_quoted)
      rows.back().emplace_back();
    else if (c == '\n' && !is_quoted)
      rows.push_back({""});
    else
      rows.back().back() += c;
  }
  rows.pop_back();  // behind the last line's end
  return rows;
}

TEST(Csv, GivesBackWhatWasWritten) {
  Grid grid;
  grid.columns = {{"user", false}, {"a,b", true}};
  grid.rows = {
      {"ann", "1"}, {"a\"b", "x,y"}, {"two\nlines\r\n", ""}, {"", "\"\""}, {" =1+1 ", "ü"}};
  for (const std::string& text : test::hostile_texts()) grid.rows.push_back({text, text + ","});
  std::vector<std::vector<std::string>> expected{{"user", "a,b"}};
  expected.insert(expected.end(), grid.rows.begin(), grid.rows.end());
  EXPECT_EQ(read_csv(csv_text(grid)), expected);
}

TEST(Csv, QuotesOnlyWhereItMust) {
  Grid grid;
  grid.columns = {{"user", false}, {"n", true}};
  grid.rows = {{"ann", "1"}, {"b,c", "2"}};
  EXPECT_EQ(csv_text(grid), "user,n\nann,1\n\"b,c\",2\n");
}

TEST(Table, HasNumbersToTheRight) {
  Grid grid;
  grid.columns = {{"USER", false}, {"CPU-H", true}, {"NOTE", false}};
  grid.rows = {{"ann", "7.5", ""}, {"jürgen", "12345.0", "x"}};
  EXPECT_EQ(table_text(grid),
            "USER      CPU-H  NOTE\n"
            "ann         7.5\n"
            "jürgen  12345.0  x\n");
}

TEST(Table, ObeysNoText) {
  Grid grid;
  grid.columns = {{"USER", false}};
  for (const std::string& text : test::hostile_texts()) grid.rows.push_back({text + "\nnext"});
  const std::string table = table_text(grid);
  EXPECT_EQ(test::not_for_a_terminal(table), "");
  EXPECT_EQ(static_cast<std::size_t>(std::count(table.begin(), table.end(), '\n')),
            grid.rows.size() + 1);
}

}  // namespace
}  // namespace lockstep::launcher
