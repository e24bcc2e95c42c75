// What every store of secrets promises the service (launcher/api/ports/secrets.h).

#include "launcher/api/ports/secrets.h"

#include <gmock/gmock.h>

#include "launcher/daemon/ports/user_secrets.h"
#include "tests/fakes/api/clock_and_random.h"
#include "tests/fakes/api/secrets.h"
#include "tests/fakes/disk/faults.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {
namespace {

using testing::HasSubstr;

class SecretsContract : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam())
      secrets_ = std::make_unique<UserSecrets>(directory_ / "secrets", clock_);
    else
      secrets_ = std::make_unique<test::FakeSecrets>(clock_);
  }
  static ErrorCode code(const Status& status) {
    return status ? ErrorCode::internal : status.error().code;
  }

  const test::TempDir directory_{test::quick_directory()};
  test::FakeClockAndRandom clock_;
  std::unique_ptr<Secrets> secrets_;
};

INSTANTIATE_TEST_SUITE_P(Of, SecretsContract, testing::Bool(), [](const auto& of) {
  return std::string(of.param ? "UserSecrets" : "TheFake");
});

TEST_P(SecretsContract, ListsAnOwnersSecretsByNameWithTheTimeOfTheirLastChange) {
  const Instant first = clock_.time;
  ASSERT_TRUE(secrets_->set("ann", "B", "1"));
  ASSERT_TRUE(secrets_->set("ann", "A", "1"));
  ASSERT_TRUE(secrets_->set("bob", "C", "1"));
  clock_.time = first + seconds(5);
  ASSERT_TRUE(secrets_->set("ann", "B", "2"));
  const auto listed = secrets_->list("ann");
  ASSERT_TRUE(listed);
  EXPECT_EQ(*listed, (std::vector<SecretView>{{"A", first}, {"B", first + seconds(5)}}));
  EXPECT_EQ(secrets_->list("nobody")->size(), 0U);
}

TEST_P(SecretsContract, RefusesWhatIsNoNameOrNoValue) {
  EXPECT_EQ(code(secrets_->set("ann", "1A", "x")), ErrorCode::invalid_argument);
  EXPECT_EQ(code(secrets_->set("ann", "A", "")), ErrorCode::invalid_argument);
  EXPECT_EQ(secrets_->list("ann")->size(), 0U);
}

TEST_P(SecretsContract, RemovesWhatIsThere) {
  ASSERT_TRUE(secrets_->set("ann", "A", "x"));
  EXPECT_EQ(code(secrets_->remove("bob", "A")), ErrorCode::not_found);
  EXPECT_TRUE(secrets_->remove("ann", "A"));
  EXPECT_EQ(code(secrets_->remove("ann", "A")), ErrorCode::not_found);
}

TEST_P(SecretsContract, NamesTheFirstOneThatIsMissing) {
  ASSERT_TRUE(secrets_->set("ann", "B", "x"));
  EXPECT_TRUE(secrets_->expect("ann", {}));
  EXPECT_TRUE(secrets_->expect("ann", {"B"}));
  const Status missing = secrets_->expect("ann", {"B", "C", "D"});
  EXPECT_EQ(code(missing), ErrorCode::not_found);
  EXPECT_THAT(missing.error().message, HasSubstr("user 'ann' has no secret 'C'"));
}

TEST_P(SecretsContract, BoundsWhatOneUserHas) {
  const std::string large(kMaxSecretBytes, 'x');
  for (std::size_t i = 0; i < kMaxSecretBytesPerUser / kMaxSecretBytes; ++i)
    ASSERT_TRUE(secrets_->set("ann", "S" + std::to_string(i), large));
  EXPECT_EQ(code(secrets_->set("ann", "MORE", "x")), ErrorCode::resource_exhausted);
  EXPECT_TRUE(secrets_->set("ann", "S0", large)) << "one that is replaced takes no room of its own";
  EXPECT_TRUE(secrets_->set("bob", "MORE", "x"));
}

}  // namespace
}  // namespace lockstep::launcher
