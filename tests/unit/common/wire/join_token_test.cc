#include "common/wire/join_token.h"

#include <gmock/gmock.h>

namespace lockstep {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using wire::JoinToken;

JoinToken token() {
  return {PublicKey("rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"),
          "tcp://127.0.0.1:6002",
          "tcp://127.0.0.1:6000",
          "tcp://127.0.0.1:6001",
          "a-secret",
          {1'700'000'000'000'000'000}};
}

TEST(JoinToken, SurvivesARoundTripAndAnEditor) {
  const auto text = wire::encode(token());
  EXPECT_THAT(text, StartsWith("lockstep-token-1."));
  EXPECT_EQ(text.find_first_of(" \n+/="), std::string::npos);
  for (const auto& form : {text, text + "\n", "  " + text + "\r\n\n"}) {
    const auto read = wire::decode_join_token(form);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(*read == token());
  }
}

TEST(JoinToken, SaysWhatIsWrong) {
  const auto error = [](std::string_view text) { return wire::decode_join_token(text).error(); };
  EXPECT_THAT(error("").message, HasSubstr("is empty"));
  EXPECT_THAT(error("\n").message, HasSubstr("is empty"));
  EXPECT_THAT(error("hello").message, HasSubstr("does not start with"));
  EXPECT_THAT(error("lockstep-token-1.a b").message, HasSubstr("character"));
  EXPECT_THAT(error("lockstep-token-1.").message, HasSubstr("damaged"));
  EXPECT_THAT(error("lockstep-token-1.e30").message, HasSubstr("has no \"key\""));  // {}
  EXPECT_EQ(error("lockstep-token-2.xyz").code, ErrorCode::unsupported);
  EXPECT_THAT(error("lockstep-token-2.xyz").message, HasSubstr("lockstep-token-2"));
  const auto text = wire::encode(token());
  EXPECT_THAT(error(text.substr(0, text.size() / 2)).message, HasSubstr("damaged"));
  EXPECT_THAT(error(std::string(5'000, 'x')).message, HasSubstr("too long"));
  auto bad_key = token();
  bad_key.launcher_key.value = "short";
  EXPECT_THAT(error(wire::encode(bad_key)).message, HasSubstr("not a CURVE key"));
}

TEST(JoinToken, OfWhichOneCharacterIsWrongIsRefused) {
  const auto text = wire::encode(token());
  std::size_t refused = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    auto wrong = text;
    wrong[at] = wrong[at] == 'a' ? 'b' : 'a';
    const auto read = wire::decode_join_token(wrong);
    refused += read ? 0 : 1;
    // Beyond the name of the sum, whose change leaves a token without one, and unused bits.
    EXPECT_TRUE(!read || *read == token()) << wrong;
  }
  EXPECT_GT(refused, text.size() - 12);
  EXPECT_THAT(wire::decode_join_token(text.substr(0, text.size() - 1)).error().message,
              HasSubstr("cut short"));
}

// {"bulk":…} as earlier versions wrote it.
TEST(JoinToken, OfAnEarlierVersionHasNoSum) {
  const auto read = wire::decode_join_token(
      "lockstep-token-1."
      "eyJidWxrIjoidGNwOi8vMTI3LjAuMC4xOjYwMDEiLCJjb250cm9sIjoidGNwOi8vMTI3LjAuMC4xO"
      "jYwMDAiLCJleHBpcmVzIjoxNzAwMDAwMDAwMDAwMDAwMDAwLCJqb2luIjoidGNwOi8vMTI3LjAuMC4xOjYwMDIiLCJrZ"
      "Xk"
      "iOiJycTpyTT59VT9ATG5zNDdFMSVrUi5vQG4lRmNtbXNML0B7SDhdeWY3Iiwic2VjcmV0IjoiYS1zZWNyZXQifQ");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(*read == token());
}

TEST(JoinToken, NeverRepeatsTheSecretInAnError) {
  auto bad = token();
  bad.launcher_key.value = "short";
  EXPECT_EQ(wire::decode_join_token(wire::encode(bad)).error().message.find("a-secret"),
            std::string::npos);
}

}  // namespace
}  // namespace lockstep
