// Names of users and projects, roles, and public keys as words.

#include "common/domain/people/access.h"

#include <gtest/gtest.h>

#include "common/grammar/key_word.h"

namespace lockstep {
namespace {

TEST(Access, RolesHaveOneWordEach) {
  for (const Role role : kRoles) EXPECT_EQ(role_from(to_string(role)), role);
  EXPECT_FALSE(role_from("Admin"));
  EXPECT_FALSE(role_from(""));
  EXPECT_EQ(to_string(Grant{Role::submitter, "vision"}), "submitter in vision");
  EXPECT_EQ(to_string(Grant{Role::operator_, ""}), "operator");
}

TEST(Access, NamesThatCouldBeTakenForSomethingElseAreRefused) {
  for (const char* good : {"alice", "a", "_svc", "Jo.Ann-2", "u_1"})
    EXPECT_TRUE(validate_user_name(good)) << good;
  for (const char* bad : {"", "-rf", ".", "..", "a b", "a/b", "a\nb", "al\xc3\xa9", "$x",
                          "a23456789012345678901234567890123"})
    EXPECT_FALSE(validate_user_name(bad)) << bad;
  EXPECT_TRUE(validate_project_name("vision-2026"));
  EXPECT_FALSE(validate_project_name("vision/2026"));
}

// RFC 32's own example of 8 bytes, four times.
const std::string kHello = "HelloWorldHelloWorldHelloWorldHelloWorld";

TEST(KeyWord, IsLettersAndDigitsAndLeadsBackToTheKey) {
  for (const std::string& z85 :
       {kHello, std::string(40, '0'), std::string("%nSc0%nSc0%nSc0%nSc0%nSc0%nSc0%nSc0%nSc0"),
        std::string("rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7")}) {
    const PublicKey key(z85);
    const std::string word = key_word(key);
    EXPECT_EQ(word.size(), 61u);
    EXPECT_EQ(word.find_first_not_of("abcdefghijklmnopqrstuvwxyz234567"), std::string::npos);
    const auto back = key_from_word(word);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, key);
    const auto old_form = key_from_word(z85);
    ASSERT_TRUE(old_form);
    EXPECT_EQ(*old_form, key);
  }
}

TEST(KeyWord, AnySingleWrongCharacterIsFound) {
  const std::string word = key_word(PublicKey(kHello));
  for (std::size_t i = 0; i < word.size(); ++i) {
    std::string wrong = word;
    wrong[i] = wrong[i] == 'b' ? 'c' : 'b';
    EXPECT_FALSE(key_from_word(wrong)) << wrong;
  }
  EXPECT_FALSE(key_from_word(word.substr(0, 60)));
  EXPECT_FALSE(key_from_word(word + "a"));
  EXPECT_FALSE(key_from_word(""));
  EXPECT_FALSE(key_from_word("alice"));
  EXPECT_FALSE(key_from_word(std::string(40, '~')));
}

}  // namespace
}  // namespace lockstep
