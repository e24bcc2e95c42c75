#include "common/domain/people/secrets.h"

#include <gmock/gmock.h>

#include "common/domain/job/spec.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

JobSpec job(const std::string& value) {
  JobSpec spec;
  spec.command = ShellCommand{"true"};
  spec.environment_variables["TOKEN"] = value;
  return spec;
}

TEST(Secrets, NamesAreThoseOfVariables) {
  for (const std::string name : {"TOKEN", "_x", "a1"}) EXPECT_TRUE(validate_secret_name(name));
  for (const std::string name : {"", "1a", "a-b", "a b", "a.b", "ä"})
    EXPECT_FALSE(validate_secret_name(name)) << name;
  EXPECT_TRUE(validate_secret_name(std::string(kMaxSecretNameBytes, 'a')));
  EXPECT_FALSE(validate_secret_name(std::string(kMaxSecretNameBytes + 1, 'a')));
}

TEST(Secrets, AnErrorNeverShowsTheValue) {
  for (const std::string& value :
       {std::string("canary\0x", 8), std::string(kMaxSecretBytes + 1, 'c')}) {
    const auto refused = validate_secret_value(value);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, Not(HasSubstr("canary")));
    EXPECT_THAT(refused.error().message, Not(HasSubstr("cccc")));
  }
}

TEST(Secrets, EachExpressionIsReplacedOnceAndNothingInAValueIs) {
  const SecretValues values{{"A", "${{secrets.B}}"}, {"B", "two"}};
  const auto text = put_in_secrets("x ${{secrets.A}} y ${{secrets.B}}${{secrets.B}}", values);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, "x ${{secrets.B}} y twotwo");
  EXPECT_EQ(*put_in_secrets("no ${{outputs.x}} here", values), "no ${{outputs.x}} here");
}

TEST(Secrets, AMissingOneIsNamed) {
  const auto text = put_in_secrets("${{secrets.GONE}}", {});
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::not_found);
  EXPECT_THAT(text.error().message, HasSubstr("'GONE'"));
}

TEST(Secrets, AJobNamesThemInItsVariablesAlone) {
  EXPECT_TRUE(validate(job("Bearer ${{secrets.TOKEN}}")));
  EXPECT_THAT(secrets_of(job("${{secrets.A}} ${{secrets.B}}").environment_variables),
              ElementsAre("A", "B"));
  for (const std::string value : {"${{secrets.A", "${{secrets.}}", "${{secrets.a b}}"}) {
    const auto refused = validate(job(value));
    ASSERT_FALSE(refused) << value;
    EXPECT_THAT(refused.error().message, HasSubstr("environment_variables.TOKEN: "));
  }
  JobSpec in_command = job("");
  in_command.command = ShellCommand{"curl ${{secrets.A}}"};
  EXPECT_THAT(validate(in_command).error().message, HasSubstr("command: "));
  in_command.command = Argv{{"curl", "${{secrets.A}}"}};
  EXPECT_THAT(validate(in_command).error().message, HasSubstr("command: "));
}

}  // namespace
}  // namespace lockstep
