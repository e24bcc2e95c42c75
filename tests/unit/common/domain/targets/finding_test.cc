#include "common/domain/targets/finding.h"

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

// What is found is what programs of the machine print, and names that others choose.
TEST(FindingTest, HostileTextNeitherChangesTheScreenNorLooksLikeAFinding) {
  const std::string csi =
                        "\xC2\x9B"
                        "2J",
                    override = "\xE2\x80\xAE", escape = "\x1B]0;mine\x07";
  const std::string hostile = "uv " + csi + override + escape + "\n  ok       all  is well\nuser";
  const std::string text =
      findings_text({{"node", "uv", Verdict::warning, hostile, "remove " + hostile}});
  for (const std::string& bad :
       {csi.substr(0, 2), override, std::string("\x1B"), std::string("\a")})
    EXPECT_EQ(text.find(bad), std::string::npos) << text;
  EXPECT_EQ(text.find("\n  ok "), std::string::npos) << text;
  EXPECT_EQ(text.find("\nuser"), std::string::npos) << text;
  EXPECT_NE(text.find("\n0 problems, 1 warning\n"), std::string::npos) << text;
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
