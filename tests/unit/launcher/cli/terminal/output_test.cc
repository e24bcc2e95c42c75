#include "launcher/cli/terminal/output.h"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <nlohmann/json.hpp>
#include <random>
#include <regex>

#include "common/domain/environment/docker_args.h"
#include "common/io/programs/run_program.h"

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

TEST(Output, WordsCanBePastedIntoAShell) {
  const std::vector<std::string> words{"-e",          "A=b c", "--tmpfs", "/x:size=1g,mode=0700",
                                       "it's",        "",      "$HOME",   "{a,b}",
                                       "caf\xc3\xa9", "#",     "a\nb",    "\\"};
  const std::string text = shell_words(words);
  EXPECT_EQ(text,
            "-e 'A=b c' --tmpfs /x:size=1g,mode=0700 'it'\\''s' '' '$HOME' '{a,b}' caf\xc3\xa9 '#' "
            "'a\nb' '\\'");
  const auto read = split_docker_args(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, words);
  std::string printed;
  for (const std::string& word : words) printed += word + "|";
  const auto shell = io::run_program({"/bin/sh", "-c", "printf '%s|' " + text}, seconds(60));
  ASSERT_TRUE(shell) << shell.error().message;
  EXPECT_EQ(shell->text, printed);
}

TEST(Output, LinesAreJoinedOrIndented) {
  EXPECT_EQ(in_one_line("it failed:\nwhy\n"), "it failed: why");
  EXPECT_EQ(in_lines("it failed:\nwhy\x1b\n\n", 2), "it failed:\n  why?");
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

// What YAML 1.1 (PyYAML's safe_load) takes for something else than a text when it stands bare.
bool is_bare_text(const std::string& word) {
  static const std::regex other(
      R"((~|null|Null|NULL|yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)"
      R"(|y|Y|n|N|=|<<|[-+]?[0-9][0-9_]*(\.[0-9_]*)?([eE][-+]?[0-9]+)?|[-+]?\.?(inf|Inf|INF))"
      R"(|\.(nan|NaN|NAN)|0x[0-9a-fA-F_]+|0b[01_]+|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?)"
      R"(|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*)?)");
  static const std::regex safe(R"([A-Za-z][A-Za-z0-9_./-]*)");
  return std::regex_match(word, safe) && !std::regex_match(word, other);
}

// Words that YAML readers have taken for something else, and what can be put together of them.
std::vector<std::string> nasty_texts() {
  std::vector<std::string> texts = {"",
                                    "~",
                                    "null",
                                    "Null",
                                    "yes",
                                    "No",
                                    "on",
                                    "OFF",
                                    "true",
                                    "y",
                                    "N",
                                    "=",
                                    "<<",
                                    "1",
                                    "-1",
                                    "+1",
                                    "0x1F",
                                    "0b1",
                                    "010",
                                    "1_000",
                                    "1e3",
                                    "1.5",
                                    ".5",
                                    "1.",
                                    ".inf",
                                    "-.INF",
                                    ".nan",
                                    "12:30",
                                    "1:2:3",
                                    "- a",
                                    "-",
                                    "---",
                                    "...",
                                    "? a",
                                    "a: b",
                                    "a:",
                                    ":a",
                                    "a #b",
                                    "#a",
                                    "&a",
                                    "*a",
                                    "!a",
                                    "!!str a",
                                    "|",
                                    ">",
                                    "%a",
                                    "@a",
                                    "`a",
                                    "'a'",
                                    "\"a\"",
                                    "[a]",
                                    "{a: b}",
                                    "a,b",
                                    " a",
                                    "a ",
                                    "a\nb",
                                    "a\n",
                                    "\n",
                                    "a\tb",
                                    "\r",
                                    "\x7f",
                                    "\x1b[0m",
                                    "C:\\dir",
                                    "2001-1-1",
                                    "2030-01-01T12:00:00.000Z",
                                    "\xc2\x85",
                                    "\xe2\x80\xa8",
                                    "\xe2\x80\xa9",
                                    "\xef\xbb\xbf",
                                    "\xef\xbf\xbe",
                                    "\xc3\xa9",
                                    "\xf0\x9f\x98\x80",
                                    "a\xc2\x9f"};
  std::mt19937 random(7);
  const std::string letters = "ye0s:-#\"'\\ \n\t{}[],&*!|>%@`~=<?.+_Tz";
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (auto length = random() % 8; length > 0; --length)
      text += letters[random() % letters.size()];
    texts.push_back(text);
  }
  texts.push_back(std::string(3000, 'k'));
  return texts;
}

TEST(Output, YamlKeepsEveryTextAsItIs) {
  for (const auto& text : nasty_texts()) {
    const std::string value = yaml_text(Json{{"a", text}, {"b", {text, {{"c", text}}}}});
    const YAML::Node read = YAML::Load(value);
    EXPECT_EQ(read["a"].as<std::string>(), text) << value;
    EXPECT_EQ(read["b"][0].as<std::string>(), text) << value;
    EXPECT_EQ(read["b"][1]["c"].as<std::string>(), text) << value;
    const std::string scalar = value.substr(3, value.find("\nb:") - 3);
    EXPECT_TRUE(scalar[0] == '"' || is_bare_text(scalar)) << value;
    for (const char* raw : {"\x7f", "\xc2\x85", "\xc2\x9f", "\xe2\x80\xa8", "\xef\xbb\xbf"})
      EXPECT_EQ(value.find(raw), std::string::npos) << value;
    const YAML::Node keyed = YAML::Load(yaml_text(Json{{text, 1}, {"list", {{{text, {1}}}}}}));
    EXPECT_EQ(keyed.begin()->first.as<std::string>(), text);
    EXPECT_EQ(keyed["list"][0].begin()->first.as<std::string>(), text);
  }
}

TEST(Output, YamlNumbersStayNumbers) {
  EXPECT_EQ(yaml_text(Json{{"a", 1e-9}, {"b", 1e30}, {"c", 0.5}, {"d", -3}}),
            "a: 1.0e-09\nb: 1.0e+30\nc: 0.5\nd: -3\n");
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
