#include "common/domain/finding.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

const Findings kSome{{"user", "home", Verdict::ok, "/h", ""},
                     {"user", "your key", Verdict::problem, "/h/key has mode 0644", "chmod 600"},
                     {"node", "shared memory", Verdict::warning, "64 MiB", "more"}};

TEST(FindingTest, IsALineAndUnderItWhatToDo) {
  EXPECT_EQ(findings_text(kSome),
            "user\n"
            "  ok       home           /h\n"
            "  problem  your key       /h/key has mode 0644\n"
            "                          -> chmod 600\n"
            "\nnode\n"
            "  warning  shared memory  64 MiB\n"
            "                          -> more\n"
            "\n1 problem, 1 warning\n");
  EXPECT_EQ(findings_text({}), "\n0 problems, 0 warnings\n");
}

TEST(FindingTest, OnlyAProblemIsNotWell) {
  EXPECT_FALSE(all_well(kSome));
  EXPECT_TRUE(all_well({kSome[0], kSome[2]}));
  for (const Verdict verdict : {Verdict::ok, Verdict::warning, Verdict::problem})
    EXPECT_EQ(verdict_from(to_string(verdict)), verdict);
  EXPECT_FALSE(verdict_from("fine"));
}

}  // namespace
}  // namespace lockstep
