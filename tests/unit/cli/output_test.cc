#include "launcher/cli/output.h"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <nlohmann/json.hpp>

namespace lockstep::cli {
namespace {

TEST(Output, TablesAlignByCharactersAndShowNoControlBytes) {
  Table table({"NAME", "STATE"});
  table.add({"caf\xc3\xa9", "up"});
  table.add({"long-name", "a\tb\nc\x1b"});
  EXPECT_EQ(table.text(),
            "NAME       STATE\n"
            "caf\xc3\xa9       up\n"
            "long-name  a b c?\n");
}

TEST(Output, YamlIsReadableAndMeansTheSame) {
  const Json json = Json::parse(
      R"({"name":"a","count":1,"f":1.5,"no":null,"yes":true,"word":"yes","empty":{},"none":[],
          "text":"two\nlines: x","list":[{"a":1,"b":[2,3]},"x"],"number":"12"})");
  const std::string text = yaml_text(json);
  EXPECT_EQ(text, R"(name: a
count: 1
f: 1.5
"no": null
"yes": true
word: "yes"
empty: {}
none: []
text: "two\nlines: x"
list:
  - a: 1
    b:
      - 2
      - 3
  - x
number: "12"
)");
  const YAML::Node read = YAML::Load(text);
  EXPECT_EQ(read["text"].as<std::string>(), "two\nlines: x");
  EXPECT_EQ(read["list"][0]["b"][1].as<int>(), 3);
}

TEST(Output, JsonTakesBytesThatAreNoText) {
  EXPECT_EQ(json_text(Json{{"a", "b\xff"}}), "{\n  \"a\": \"b\xef\xbf\xbd\"\n}\n");
}

TEST(Output, KnowsItsFormats) {
  EXPECT_EQ(format_from("json"), Format::json);
  EXPECT_EQ(format_from("yaml"), Format::yaml);
  EXPECT_EQ(format_from("table"), Format::table);
  EXPECT_FALSE(format_from("JSON"));
}

}  // namespace
}  // namespace lockstep::cli
