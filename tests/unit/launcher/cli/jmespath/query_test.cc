#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "launcher/cli/jmespath/expression.h"
#include "launcher/cli/terminal/output.h"

namespace lockstep::cli {
namespace {

using jmespath::Expression;

Result<Json> search(const std::string& text, const Json& document) {
  TRY_ASSIGN(const Expression expression, Expression::parse(text));
  return expression.search(document);
}

std::string answer(const std::string& text, const Json& document) {
  const auto found = search(text, document);
  return found ? found->dump() : found.error().message;
}

void check(const std::string& file, const Json& given, const Json& one) {
  const auto text = one["expression"].get<std::string>();
  const auto found = search(text, given);
  SCOPED_TRACE(file + ": " + text);
  if (one.contains("error")) {
    EXPECT_FALSE(found) << found->dump();
  } else if (!found) {
    ADD_FAILURE() << found.error().message;
  } else if (one.contains("result")) {  // of a benchmark there is none
    // An object's keys have an order here, and none in JMESPath.
    EXPECT_EQ(nlohmann::json::parse(found->dump()), nlohmann::json::parse(one["result"].dump()));
  }
}

TEST(Query, MeetsTheComplianceSuite) {
  const std::filesystem::path folder = LOCKSTEP_SOURCE "/tests/unit/launcher/cli/jmespath_cases";
  std::size_t cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream file(entry.path());
    for (const Json& group : Json::parse(file))
      for (const Json& one : group["cases"]) {
        check(entry.path().filename(), group["given"], one);
        ++cases;
      }
  }
  EXPECT_GT(cases, 600u);
}

TEST(Query, ErrorsNameTheColumn) {
  const Json document = Json::parse(R"({"a": [1, "x"], "name": "n"})");
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "column 1: the expression is empty; @ stands for the whole answer"},
      {"a.", "column 3: expected a name, *, [ or { after '.', not the end"},
      {"a[0", "column 4: expected [INDEX] or [START:STOP:STEP], not the end"},
      {"a[?b = `1`]", "column 6: '=' is not an operator; write == for equality"},
      {"a b", "column 3: unexpected 'b' after a complete expression"},
      {"é", "column 1: a name of other characters than letters, digits and _ stands in \"\""},
      {"\"é\".a-b", "column 6: '-' stands before the digits of an index only"},
      {"'abc", "column 1: this string has no closing '"},
      {"a[::0]", "column 2: the step of a slice must not be 0"},
      {"lenght(a)", "column 1: unknown function lenght(); did you mean length()?"},
      {"[a, abs(name)]", "column 5: abs() takes a number as argument 1, and was given string"},
      {"abs(a, name)", "column 1: abs() takes 1 argument, not 2"},
      {"sort_by(a, &@)",
       "column 1: sort_by() takes keys of one type, and the expression gives numbers and strings"},
      {"map(&abs(@), a)", "column 6: abs() takes a number as argument 1, and was given string"},
      {"a == 1", "column 6: a number is written `1`, or [1] as an index"},
      {"&a", "column 1: &EXPRESSION is an argument of a function only"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(answer(text, document), error) << text;
}

// Before anything is asked of the launcher: `lockstep run --query` submits a job.
TEST(Query, WhatNoDocumentCouldMendIsFoundWithoutOne) {
  for (const char* text : {"nosuch(@)", "a.b || length()", "[].abs(a, b)"})
    EXPECT_FALSE(jmespath::Expression::parse(text)) << text;
  EXPECT_TRUE(jmespath::Expression::parse("not_null(a, b, c)"));
}

TEST(Query, IsBoundedForHostileTexts) {
  EXPECT_EQ(answer(std::string(100'000, 'a'), {}), "the expression has more than 65536 bytes");
  for (const char* piece : {"(", "[", "!", "a.", "[?", "{a:", "& ", "[0]", "a||"}) {
    std::string text;
    for (int i = 0; i < 10'000; ++i) text += piece;
    const std::string error = answer(text, {});
    EXPECT_NE(error.find("levels"), std::string::npos) << piece << ": " << error;
  }
}

TEST(Query, KeepsTheOrderOfKeysAndComparesStrings) {
  const Json jobs = Json::parse(R"([{"z": "b", "a": 1}, {"z": "a", "a": 2}])");
  EXPECT_EQ(answer("[].{z: z, a: a}", jobs), jobs.dump());
  EXPECT_EQ(answer("[?z > 'a'].a", jobs), "[1]");
  EXPECT_EQ(answer("[?z == `b`].a", jobs), "[1]");
  EXPECT_EQ(answer("[?a > z]", jobs), "[]");
  EXPECT_EQ(answer("sum([].a)", jobs), "3");
}

TEST(Query, TsvHasOneLineForEachElement) {
  EXPECT_EQ(tsv_text(Json::parse(R"(["a", 1, null, true, {"x": [1], "y": "t\tn\n\u001b"}])")),
            "a\n1\n\ntrue\n[1]\tt n ?\n");
  EXPECT_EQ(tsv_text(Json::parse(R"({"name": "n", "size": 2.5})")), "n\t2.5\n");
  EXPECT_EQ(tsv_text(Json()), "");
  EXPECT_EQ(tsv_text(Json("one")), "one\n");
}

TEST(Query, RecordsAreATable) {
  EXPECT_EQ(records_text(
                Json::parse(R"([{"display_name": "a", "n": 1, "deep": {}}, {"n": 22, "x": "y"}])")),
            "DISPLAY NAME  N   X\n"
            "a             1\n"
            "              22  y\n");
  EXPECT_EQ(records_text(Json::parse("[[1, 2], [3]]")), "COLUMN 1  COLUMN 2\n1         2\n3\n");
  EXPECT_EQ(records_text(Json::parse(R"(["a", "b"])")), "RESULT\na\nb\n");
  EXPECT_EQ(records_text(Json()), "");
}

}  // namespace
}  // namespace lockstep::cli
