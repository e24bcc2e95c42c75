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
  EXPECT_EQ(quoted_name("a\xc2\x9b\xe2\x80\xae\xf3\xa0\x80\x81"), "\"a\\u009b\\u202e\\U000e0001\"");
  EXPECT_EQ(quoted_name("\xcc\x81"
                        "a\xc2\xa0"),
            "\"\\u0301a\\u00a0\"");
  EXPECT_EQ(quoted_name("e\xcc\x81t\xc3\xa9"), "e\xcc\x81t\xc3\xa9");
  EXPECT_EQ(quoted_name("a\xff\n"), "\"a\xff\\n\"") << "no UTF-8 stays as it is";
}

}  // namespace
}  // namespace lockstep
