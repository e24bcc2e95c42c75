#include "common/domain/outputs.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace lockstep
