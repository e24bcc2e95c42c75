// Secrets in a backup: only the private key opens them, and what was changed is noticed.

#include "launcher/store/sealed_secrets.h"

#include <gmock/gmock.h>

#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<StoredSecret> samples() {
  return {{"alice", "TOKEN", "canary-5b1e", Instant{7}},
          {"bob", "KEY", std::string("not utf-8: \xff\xfe", 13), Instant{8}}};
}

TEST(SealedSecrets, AreReadWithThePrivateKeyAndWithNoOther) {
  const io::KeyPair keys = io::generate_key_pair(), others = io::generate_key_pair();
  const auto sealed = seal_secrets(samples(), keys.public_key);
  ASSERT_TRUE(sealed);
  EXPECT_THAT(*sealed, Not(HasSubstr("canary")));
  EXPECT_THAT(*sealed, Not(HasSubstr("alice")));
  const auto opened = unseal_secrets(*sealed, keys);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(*opened, samples());
  const auto refused = unseal_secrets(*sealed, others);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(refused.error().message, HasSubstr(keys.public_key.value));
}

TEST(SealedSecrets, ThatWereChangedOrCutAreRefused) {
  const io::KeyPair keys = io::generate_key_pair();
  const std::string sealed = seal_secrets(samples(), keys.public_key).value();
  for (std::size_t at = 0; at < sealed.size(); ++at) {
    std::string changed = sealed;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_FALSE(unseal_secrets(changed, keys)) << at;
    EXPECT_FALSE(unseal_secrets(sealed.substr(0, at), keys)) << at;
  }
}

TEST(SealedSecrets, NoneAreAnEmptyList) {
  const io::KeyPair keys = io::generate_key_pair();
  const auto opened = unseal_secrets(seal_secrets({}, keys.public_key).value(), keys);
  ASSERT_TRUE(opened);
  EXPECT_TRUE(opened->empty());
  EXPECT_FALSE(seal_secrets({}, PublicKey("short")));
}

TEST(SealedSecrets, AllOfAStoreComeBackInAnother) {
  test::TempDir directory;
  const auto store = SecretStore::open(directory / "a").value();
  for (const StoredSecret& one : samples())
    ASSERT_TRUE(store->set(one.owner, one.name, one.value, one.updated));
  const auto all = store->all();
  ASSERT_TRUE(all);
  EXPECT_THAT(*all, testing::UnorderedElementsAreArray(samples()));
  std::vector<StoredSecret> wiped = *all;
  wipe(wiped);
  EXPECT_TRUE(wiped.empty());
}

}  // namespace
}  // namespace lockstep::launcher
