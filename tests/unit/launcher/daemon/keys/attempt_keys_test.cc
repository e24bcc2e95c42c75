// The keys with which running attempts reach their launcher.

#include "launcher/daemon/keys/attempt_keys.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "common/io/file_system.h"
#include "launcher/daemon/keys/key_registry.h"

namespace lockstep::launcher {
namespace {

AttemptId attempt(const std::string& job, std::uint32_t number, std::uint64_t incarnation = 0) {
  return {JobId(job), number, incarnation};
}

class Keys : public ::testing::Test {
 protected:
  AttemptKeys keys() {
    return AttemptKeys(std::string(32, 's'),
                       [this](const AttemptId& one) -> std::optional<AttemptCaller> {
                         if (current.count(one) == 0) return std::nullopt;
                         return AttemptCaller{one, "ann", "default"};
                       });
  }
  static PublicKey public_of(const std::string& secret_key) {
    return io::key_pair_with(secret_key).value().public_key;
  }
  std::set<AttemptId> current;
};

TEST_F(Keys, AreTheSameAfterARestartAndOthersForEachAttempt) {
  const std::string secret(32, 's');
  const io::KeyPair key = key_of_attempt(secret, attempt("train", 1));
  EXPECT_EQ(key_of_attempt(secret, attempt("train", 1)).secret_key, key.secret_key);
  EXPECT_EQ(public_of(key.secret_key), key.public_key);
  std::set<std::string> all{key.secret_key};
  for (const AttemptId& other : {attempt("train", 2), attempt("train", 1, 1), attempt("train1", 1),
                                 attempt("trai", 1), attempt("train", 1, 11)})
    EXPECT_TRUE(all.insert(key_of_attempt(secret, other).secret_key).second) << to_string(other);
  EXPECT_TRUE(
      all.insert(key_of_attempt(std::string(32, 't'), attempt("train", 1)).secret_key).second);
}

TEST_F(Keys, CountOnlyWhileTheirAttemptDoes) {
  AttemptKeys all = keys();
  EXPECT_EQ(all.issue(attempt("train", 1)), "");
  current = {attempt("train", 1)};
  const std::string secret_key = all.issue(attempt("train", 1));
  EXPECT_EQ(all.issue(attempt("train", 1)), secret_key);
  const auto holder = all.holder_of(public_of(secret_key));
  ASSERT_TRUE(holder);
  EXPECT_EQ(holder->attempt, attempt("train", 1));
  EXPECT_EQ(holder->owner, "ann");
  current.clear();
  EXPECT_FALSE(all.holder_of(public_of(secret_key)));
  EXPECT_FALSE(all.holder_of(PublicKey(std::string(40, 'x'))));
}

TEST_F(Keys, OfEndedAttemptsAreForgotten) {
  AttemptKeys all = keys();
  std::string first;
  for (std::uint32_t i = 1; i <= 1'100; ++i) {
    current = {attempt("train", i)};
    const std::string key = all.issue(attempt("train", i));
    if (i == 1) first = key;
  }
  current.insert(attempt("train", 1));
  EXPECT_FALSE(all.holder_of(public_of(first))) << "it was forgotten, until it is issued again";
  EXPECT_EQ(all.issue(attempt("train", 1)), first);
}

TEST_F(Keys, OfAnAttemptIsNotThatOfAUserWhoTakesIt) {
  AttemptKeys all = keys();
  current = {attempt("train", 1)};
  const PublicKey key = public_of(all.issue(attempt("train", 1)));
  KeyRegistry registry("/nonexistent");
  registry.add(all);
  EXPECT_TRUE(registry.allows(kControlDomain, key));
  registry.allow_user(key, "mallory", false);
  EXPECT_EQ(registry.client_of(key), Caller(AttemptCaller{attempt("train", 1), "ann", "default"}));
  current.clear();
  registry.revoke_user(key);
  EXPECT_FALSE(registry.allows(kControlDomain, key));
  EXPECT_FALSE(registry.client_of(key));
}

TEST_F(Keys, TheSecretIsMadeOnceAndClosedToOthers) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("attempt-keys-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const std::string path = folder / "attempts.key";
  const auto made = load_or_create_attempts_secret(path);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->size(), 32U);
  EXPECT_EQ(*load_or_create_attempts_secret(path), *made);
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  ASSERT_TRUE(io::write_file_atomically(path, "short", 0600));
  EXPECT_FALSE(load_or_create_attempts_secret(path));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace lockstep::launcher
