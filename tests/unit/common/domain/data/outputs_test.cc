#include "common/domain/data/outputs.h"

#include <gtest/gtest.h>

#include "common/domain/environment/variables.h"

namespace lockstep {
namespace {

TEST(Outputs, NamesBecomePathsAndVariables) {
  for (const char* good : {"model", "_x", "A1_b", "outputs"}) EXPECT_TRUE(valid_output_name(good));
  for (const char* bad : {"", "1a", "a-b", "a.b", "..", "a/b", "a b", "ü"})
    EXPECT_FALSE(valid_output_name(bad)) << bad;
  EXPECT_FALSE(valid_output_name(std::string(101, 'a')));
  EXPECT_FALSE(validate(std::vector<OutputSpec>{{"a"}, {"a"}}));
  EXPECT_FALSE(validate(std::vector<OutputSpec>(101)));
  EXPECT_TRUE(validate(std::vector<OutputSpec>{{"a"}, {"b"}}));
}

TEST(Outputs, ExpressionsBecomeThePathsOfTheNode) {
  const auto paths =
      output_paths({{"model"}, {"report", OutputType::uri_file, OutputMode::upload}}, "/work");
  EXPECT_EQ(paths.at("model"), "/work/.lockstep/outputs/model");
  EXPECT_EQ(paths.at("report"), "/work/.lockstep/outputs/report/report");
  EXPECT_EQ(put_in_outputs("a ${{outputs.model}} b ${{outputs.model}}/x ${{outputs.other}}", paths),
            "a /work/.lockstep/outputs/model b /work/.lockstep/outputs/model/x "
            "${{outputs.other}}");
}

TEST(Variables, WhatAShellWouldReplaceIsFound) {
  const std::pair<const char*, const char*> cases[] = {
      {"/x:$PATH", "$PATH"},
      {"/x:${PATH}:/y", "${PATH}"},
      {"$HOME/data", "$HOME"},
      {"~/data", "~/data"},
      {"/x:~/bin", "~/bin"},
      {"~", "~"},
      {"a$b_1c", "$b_1c"},
      {"", ""},
      {"$", ""},
      {"a$5", ""},
      {"${{inputs.lr}}", ""},
      {"${}", ""},
      {"${a", ""},
      {"a~b", ""},
      {"~user", ""},
      {"1:2", ""},
      {"100%", ""},
  };
  for (const auto& [value, found] : cases) EXPECT_EQ(unreplaced_in(value), found) << value;
  EXPECT_EQ(unreplaced_note("environment_variables.PATH", "PATH", "/x:$PATH"),
            "'environment_variables.PATH': '$PATH' stays as it is, because no shell reads the "
            "value; to have it replaced on the node, set the variable in the command: export "
            "PATH=\"/x:$PATH\"; …");
  EXPECT_EQ(unreplaced_note("k", "A", "plain"), "");
}

}  // namespace
}  // namespace lockstep
