#include "common/base/quoted_name.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(QuotedName, StandsBareUnlessItCouldForgeALine) {
  for (const char* plain : {"a.txt", "a b", "a/b", "übung", "it's", "say \"hi\"", "back\\slash"})
    EXPECT_EQ(quoted_name(plain), plain);
  EXPECT_EQ(quoted_name("a\nproblem: b"), "\"a\\nproblem: b\"");
  EXPECT_EQ(quoted_name("\t\r\x1b[0m\x7f"), "\"\\t\\r\\x1b[0m\\x7f\"");
  EXPECT_EQ(quoted_name("a\\\n"), "\"a\\\\\\n\"");
  EXPECT_EQ(quoted_name("\"a\\nb\""), "\"\\\"a\\\\nb\\\"\"")
      << "not the same as a name with a newline";
  EXPECT_EQ(quoted_name(""), "\"\"");
}

}  // namespace
}  // namespace lockstep
