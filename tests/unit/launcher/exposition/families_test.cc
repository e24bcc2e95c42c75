// The families: the formats and promtool have nothing against them, no two of them can make one
// series, and docs/metrics.md lists exactly these.

#include "launcher/exposition/families.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

namespace lockstep::launcher {
namespace {

TEST(Families, HaveNothingAgainstThem) {
  for (const MetricFamily* family : all_families())
    EXPECT_EQ(wrong_with(*family), "") << family->name;
}

TEST(Families, ShareNoNameOfASeries) {
  std::set<std::string> names;
  for (const MetricFamily* family : all_families()) {
    std::vector<std::string> ends{""};
    switch (family->type) {
      case MetricType::gauge: break;
      case MetricType::counter: ends = {"", "_total", "_created"}; break;
      case MetricType::info: ends = {"", "_info"}; break;
      case MetricType::histogram: ends = {"", "_bucket", "_sum", "_count", "_created"}; break;
    }
    for (const std::string& end : ends)
      EXPECT_TRUE(names.insert(std::string(family->name) + end).second) << family->name << end;
  }
}

TEST(Families, AreListedInTheDocuments) {
  std::ifstream file(LOCKSTEP_SOURCE "/docs/metrics.md");
  std::stringstream text;
  text << file.rdbuf();
  std::set<std::string> listed;
  for (std::string line; std::getline(text, line);)
    if (line.starts_with("| `")) listed.insert(line);
  for (const MetricFamily* family : all_families()) {
    std::string labels;
    for (const std::string_view label : family->labels)
      labels += fmt::format("{}`{}`", labels.empty() ? "" : ", ", label);
    const std::string line =
        fmt::format("| `{}` | {} | {} | {} | {} |", asked_name(*family), to_string(family->type),
                    family->unit, labels, family->help);
    EXPECT_EQ(listed.erase(line), 1u) << "docs/metrics.md lacks this line:\n" << line;
  }
  for (const std::string& line : listed) ADD_FAILURE() << "nothing exposes this:\n" << line;
}

TEST(WrongFamilies, AreNamed) {
  const auto wrong = [](MetricFamily family) { return wrong_with(family); };
  const std::vector<std::string_view> none;
  using T = MetricType;
  EXPECT_EQ(wrong({"a_seconds", T::gauge, "seconds", none, "A"}), "");
  EXPECT_EQ(wrong({"a-b", T::gauge, "", none, "A"}), "the name has other characters");
  EXPECT_EQ(wrong({"_a", T::gauge, "", none, "A"}), "names with '_' before them are the formats'");
  EXPECT_EQ(wrong({"aB", T::gauge, "", none, "A"}), "the name has a capital letter");
  EXPECT_EQ(wrong({"a_ms", T::gauge, "", none, "A"}), "the name has the word 'ms'");
  EXPECT_EQ(wrong({"a_count", T::gauge, "", none, "A"}), "the name has the word 'count'");
  EXPECT_EQ(wrong({"a_gauge_b", T::gauge, "", none, "A"}), "the name has the word 'gauge'");
  EXPECT_EQ(wrong({"a_total", T::counter, "", none, "A"}), "'_total' is the writer's");
  EXPECT_EQ(wrong({"a", T::gauge, "seconds", none, "A"}), "the name does not end with the unit");
  EXPECT_EQ(wrong({"a_hertz", T::gauge, "hertz", none, "A"}), "the unit is none of ours");
  EXPECT_EQ(wrong({"a_bytes", T::gauge, "", none, "A"}),
            "the name ends with a unit, and there is none");
  EXPECT_EQ(wrong({"a_bytes", T::info, "bytes", none, "A"}), "an info has no unit");
  EXPECT_EQ(wrong({"a", T::gauge, "", none, ""}), "there is no help");
  EXPECT_EQ(wrong({"a", T::gauge, "", none, "A\nB"}), "the help has two lines");
  EXPECT_EQ(wrong({"a", T::gauge, "", {"le"}, "A"}), "'le' cannot be a label");
  EXPECT_EQ(wrong({"a", T::gauge, "", {"b", "b"}, "A"}), "the label 'b' is there twice");
}

}  // namespace
}  // namespace lockstep::launcher
