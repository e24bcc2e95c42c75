// The language of search_runs: what MLflow's documentation shows, and what is refused, in which
// column.

#include "launcher/metrics/search/filter.h"

#include <gmock/gmock.h>

#include <random>
#include <regex>

#include "launcher/metrics/search/like.h"
#include "launcher/metrics/search/order.h"

namespace lockstep::metrics {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

Clause parsed(const std::string& text) {
  const auto filter = parse_filter(text);
  EXPECT_TRUE(filter) << text << ": " << filter.error().message;
  if (!filter || filter->size() != 1) {
    ADD_FAILURE() << text << " is not one clause";
    return {};
  }
  return filter->front();
}

TEST(Filter, EntitiesHaveTheirOtherNames) {
  for (const char* name : {"metrics", "metric"}) {
    const Clause clause = parsed(std::string(name) + ".loss < 0.5");
    EXPECT_EQ(clause.field.entity, Entity::metric);
    EXPECT_EQ(clause.field.key, "loss");
    EXPECT_EQ(clause.comparison, Comparison::less);
    EXPECT_EQ(std::get<double>(clause.value), 0.5);
  }
  for (const char* name : {"params", "param", "parameters", "parameter"})
    EXPECT_EQ(parsed(std::string(name) + ".x = 'a'").field.entity, Entity::parameter);
  for (const char* name : {"tags", "tag"})
    EXPECT_EQ(parsed(std::string(name) + ".x = 'a'").field.entity, Entity::tag);
  for (const char* name : {"attributes.", "attribute.", "attr.", "run.", ""})
    EXPECT_EQ(parsed(std::string(name) + "status = 'FINISHED'").field.attribute, Attribute::status);
  for (const char* name : {"datasets", "dataset"})
    EXPECT_EQ(parsed(std::string(name) + ".digest = 'a'").field.entity, Entity::dataset);
}

TEST(Filter, KeysMayBeQuotedAndHaveDots) {
  EXPECT_EQ(parsed("tags.mlflow.source.type = 'LOCAL'").field.key, "mlflow.source.type");
  EXPECT_EQ(parsed("metrics.`val loss` > 1").field.key, "val loss");
  EXPECT_EQ(parsed("metrics.\"val loss\" > 1").field.key, "val loss");
  EXPECT_EQ(parsed("params.model/lr-1 = 'a'").field.key, "model/lr-1");
  EXPECT_EQ(parsed("params.größe = 'a'").field.key, "größe");
  EXPECT_EQ(parsed("attributes.`Run name` = 'a'").field.attribute, Attribute::run_name);
  EXPECT_EQ(parsed("`run name` = 'a'").field.key, "run_name");
  EXPECT_EQ(parsed("\"Created\" > 5").field.attribute, Attribute::start_time);
}

TEST(Filter, ComparisonsAndValues) {
  EXPECT_EQ(parsed("metrics.x>=-1.5e3").comparison, Comparison::greater_or_equal);
  EXPECT_EQ(std::get<double>(parsed("metrics.x=-1.5e3").value), -1500);
  EXPECT_EQ(std::get<double>(parsed("metrics.x = +.5").value), 0.5);
  EXPECT_EQ(std::get<double>(parsed("start_time > 1700000000000").value), 1.7e12);
  EXPECT_EQ(std::get<std::string>(parsed("params.x != \"it's\"").value), "it's");
  EXPECT_EQ(std::get<std::string>(parsed("params.x = 'it''s'").value), "it's");
  EXPECT_EQ(std::get<std::string>(parsed("params.x = ''").value), "");
  EXPECT_EQ(parsed("tags.x iLiKe '%a%'").comparison, Comparison::ilike);
  EXPECT_EQ(parsed("tags.x LIKE 'a_'").comparison, Comparison::like);
  EXPECT_EQ(std::get<Words>(parsed("run_id IN ('a', \"b\")").value), (Words{"a", "b"}));
  EXPECT_EQ(parsed("run_id not  in ('a')").comparison, Comparison::not_in);
}

TEST(Filter, ClausesAreJoinedByAnd) {
  EXPECT_THAT(*parse_filter(""), IsEmpty());
  EXPECT_THAT(*parse_filter(" \n\t"), IsEmpty());
  const auto filter = parse_filter("metrics.a > 1 and params.b = 'x AND y'\nAND run_name='z'");
  ASSERT_TRUE(filter) << filter.error().message;
  ASSERT_THAT(*filter, SizeIs(3));
  EXPECT_EQ((*filter)[1].column, 19u);
  EXPECT_EQ(std::get<std::string>((*filter)[1].value), "x AND y");
}

struct Bad {
  std::string text, column, why;
};
const Bad kBad[] = {
    {"metrics.x", "10", "expected =, !=,"},
    {"metrics.x >", "12", "expected a number without quotes, and found the end"},
    {"metrics.x > 'a'", "13", "expected a number without quotes"},
    {"metrics.x > 1.2.3", "13", "'1.2.3' is not a number"},
    {"metrics.x > 1_000", "13", "'1_000' is not a number"},
    {"metrics.x > 0x10", "13", "is not a number"},
    {"metrics.x > inf", "13", "expected a number without quotes, and found 'inf'"},
    {"metrics.x == 1", "11", "'=='; write ="},
    {"metrics.x <> 1", "11", "'<>'; write !="},
    {"metrics.x LIKE 'a'", "11", "LIKE is not possible here; a number has"},
    {"metrics.x IN ('a')", "11", "IN is not possible here"},
    {"metrics.x > 1 OR metrics.y > 1", "15", "OR is not possible; clauses are joined by AND"},
    {"metrics.x > 1, metrics.y > 1", "14", "expected AND or the end, and found ','"},
    {"metrics.x > 1 metrics.y > 1", "15", "expected AND or the end, and found 'metrics.y'"},
    {"metrics.x > 1 AND", "18", "expected a name, as in metrics.loss, and found the end"},
    {"AND metrics.x > 1", "1", "a run has no attribute 'AND'"},
    {"(metrics.x > 1)", "1", "parentheses are possible behind IN alone"},
    {"params.x = 1", "12", "expected a text in quotes, as in 'adam', and found '1'"},
    {"params.x = adam", "12", "expected a text in quotes"},
    {"params.x = 'adam", "12", "the quote ' has no end"},
    {"params.x > 'a'", "10", "> is not possible here; params and tags have"},
    {"params.x IN ('a')", "10", "IN is not possible here; params and tags have"},
    {"metrics.`x > 1", "9", "the quote ` has no end"},
    {"metric.`` > 1", "1", "names no key"},
    {"metrics. > 1", "1", "names no key"},
    {"measures.x > 1", "1", "there is no 'measures'; possible are metrics,"},
    {"loss < 0.5", "1", "a run has no attribute 'loss'"},
    {"attributes.loss < 0.5", "1", "a metric is metrics.NAME"},
    {"status > 'FINISHED'", "8", "> is not possible here; this text has"},
    {"start_time > '2026'", "14", "expected a number without quotes"},
    {"start_time LIKE '2%'", "12", "LIKE is not possible here; a number has"},
    {"dataset.size = '1'", "1", "a dataset has no 'size'"},
    {"run_id IN 'a'", "11", "expected (, and found 'a'"},
    {"run_id IN ()", "12", "expected a text in quotes"},
    {"run_id IN ('a'", "15", "expected ), and found the end"},
    {"run_id IN ('a',)", "16", "expected a text in quotes"},
    {"run_id NOT ('a')", "8", "found 'NOT'"},
    {"run_id NOT LIKE 'a'", "8", "found 'NOT'"},
    {"'x' = 'x'", "1", "a run has no attribute 'x'"},
    {"1 = 1", "1", "expected a name"},
    {"metrics.größe.ß > 1 AND x", "25", "a run has no attribute 'x'"},
    {"metrics.x > 1; DROP TABLE run", "14", "expected AND or the end, and found ';'"},
    {"params.x = 'a' -- b", "16", "expected AND or the end"},
    {std::string("metrics.x > 1\0", 14), "14", "expected AND or the end"},
};

TEST(Filter, WhatIsWrongIsSaidWithItsColumn) {
  for (const Bad& bad : kBad) {
    const auto filter = parse_filter(bad.text);
    ASSERT_FALSE(filter) << bad.text;
    EXPECT_EQ(filter.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(filter.error().message, StartsWith("filter: column " + bad.column + ": "))
        << bad.text;
    EXPECT_THAT(filter.error().message, HasSubstr(bad.why)) << bad.text;
  }
}

TEST(Filter, HasLimits) {
  const std::string clause = "metrics.x > 1";
  std::string many = clause;
  for (std::size_t i = 1; i < kMaxClauses; ++i) many += " AND " + clause;
  EXPECT_TRUE(parse_filter(many));
  EXPECT_THAT(parse_filter(many + " AND " + clause).error().message, HasSubstr("at most 100"));
  std::string words = "run_id IN ('a'";
  for (std::size_t i = 1; i < kMaxListedWords; ++i) words += ",'a'";
  EXPECT_TRUE(parse_filter(words + ")"));
  EXPECT_FALSE(parse_filter(words + ",'a')"));
  EXPECT_FALSE(parse_filter(std::string(kMaxFilterBytes + 1, ' ')));
  EXPECT_FALSE(parse_filter("params.x = '" + std::string(kMaxFilterBytes, 'x') + "'"));
  // An error does not repeat what is long.
  EXPECT_LT(parse_filter(std::string(5'000, 'x')).error().message.size(), 400u);
}

TEST(Filter, ItsTextReadsAsTheSame) {
  for (const char* text :
       {"metrics.`a b` >= -0.1", "params.x = 'it''s' AND tags.\"a`b\" ILIKE '%'",
        "run_id NOT IN ('a', '''') AND dataset.name = 'd'", "end_time < 5 AND `Run Name` != 'x'"}) {
    auto filter = parse_filter(text);
    ASSERT_TRUE(filter) << filter.error().message;
    auto again = parse_filter(to_string(*filter));
    ASSERT_TRUE(again) << to_string(*filter) << ": " << again.error().message;
    for (auto* one : {&*filter, &*again})
      for (Clause& clause : *one) clause.column = 1;
    EXPECT_EQ(*again, *filter) << to_string(*filter);
  }
}

// Whatever the bytes: an answer, and one that reads back the same.
TEST(Filter, NoiseIsAnsweredToo) {
  const char* const pieces[] = {"metrics.", "params.", "`",      "\"",    "'",     " AND ", "=",
                                "!=",       "<",       "(",      ")",     ",",     "1",     "-",
                                ".",        "e5",      "x",      " ",     "LIKE ", "IN ",   "NOT ",
                                "\xff",     "ß",       "status", "run_id"};
  std::mt19937_64 random(3);
  int good = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (std::size_t i = random() % 12; i-- > 0;) text += pieces[random() % std::size(pieces)];
    const auto filter = parse_filter(text);
    if (!filter) continue;
    ++good;
    const auto again = parse_filter(to_string(*filter));
    ASSERT_TRUE(again) << text << " -> " << to_string(*filter);
    ASSERT_EQ(again->size(), filter->size());
  }
  EXPECT_GT(good, 20);
}

TEST(OrderBy, NamesAFieldAndAWay) {
  const auto down = parse_order("metrics.`val loss` DESC");
  ASSERT_TRUE(down) << down.error().message;
  EXPECT_EQ(down->field.key, "val loss");
  EXPECT_FALSE(down->ascending);
  EXPECT_TRUE(parse_order("params.lr")->ascending);
  EXPECT_TRUE(parse_order("start_time asc")->ascending);
  EXPECT_EQ(parse_order("attribute.Created desc")->field.attribute, Attribute::start_time);
  for (const char* text : {"", "metrics.x UP", "metrics.x ASC DESC", "DESC", "dataset.name", "1"}) {
    const auto order = parse_order(text);
    ASSERT_FALSE(order) << text;
    EXPECT_THAT(order.error().message, StartsWith("order_by: column "));
  }
}

TEST(Like, AgreesWithAnExpression) {
  std::mt19937_64 random(4);
  const std::string letters = "ab%_A";
  const auto word = [&](std::size_t most) {
    std::string text;
    for (std::size_t i = random() % (most + 1); i-- > 0;)
      text += letters[random() % letters.size()];
    return text;
  };
  for (int round = 0; round < 3'000; ++round) {
    const std::string text = word(8), pattern = word(6);
    std::string expression;
    for (const char c : pattern) expression += c == '%' ? ".*" : c == '_' ? "." : std::string(1, c);
    ASSERT_EQ(like(text, pattern), std::regex_match(text, std::regex(expression)))
        << text << " LIKE " << pattern;
    ASSERT_EQ(ilike(text, pattern),
              std::regex_match(text, std::regex(expression, std::regex::icase)));
  }
}

TEST(Like, OneCharacterIsNotOneByte) {
  EXPECT_TRUE(like("größe", "gr_ße"));
  EXPECT_TRUE(like("größe", "gr%e"));
  EXPECT_FALSE(like("größe", "gr__ße"));
  EXPECT_TRUE(like("\xff", "_"));
}

TEST(Like, ManyWildcardsTakeNoTime) {
  std::string pattern;
  for (int i = 0; i < 1'000; ++i) pattern += "%a";
  EXPECT_FALSE(like(std::string(5'000, 'a'), pattern + "b"));
}

}  // namespace
}  // namespace lockstep::metrics
