// Secrets in real files: what is set is there after a restart, in no file in clear, and bound to
// its owner, its name and the key.

#include "launcher/store/secret_store.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class SecretStoreTest : public testing::Test {
 protected:
  std::unique_ptr<SecretStore> open() {
    auto store = SecretStore::open(folder_);
    EXPECT_TRUE(store) << store.error().message;
    return store ? *std::move(store) : nullptr;
  }
  std::string all_bytes() const {
    std::string all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
      std::ifstream file(entry.path(), std::ios::binary);
      all.append(std::istreambuf_iterator<char>(file), {});
    }
    return all;
  }
  static mode_t mode_of(const std::string& path) {
    struct stat info {};
    EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
    return info.st_mode & 0777;
  }

  test::TempDir directory_;
  const std::string folder_ = directory_ / "secrets";
};

TEST_F(SecretStoreTest, IsThereAfterARestartAndNowhereInClear) {
  ASSERT_TRUE(open()->set("alice", "TOKEN", "canary-5b1e", Instant{7}));
  EXPECT_EQ(all_bytes().find("canary-5b1e"), std::string::npos);
  EXPECT_EQ(mode_of(folder_ + "/key"), 0600u);
  EXPECT_EQ(mode_of(folder_), 0700u);
  const auto store = open();
  EXPECT_EQ(store->values("alice", {"TOKEN", "OTHER"})->at("TOKEN"), "canary-5b1e");
  EXPECT_THAT(*store->values("alice", {"TOKEN", "OTHER"}), SizeIs(1));
  EXPECT_THAT(*store->list("alice"), ElementsAre(SecretView{"TOKEN", Instant{7}}));
}

TEST_F(SecretStoreTest, BelongsToOneUser) {
  const auto store = open();
  ASSERT_TRUE(store->set("alice", "TOKEN", "hers", Instant{1}));
  ASSERT_TRUE(store->set("bob", "TOKEN", "his", Instant{1}));
  EXPECT_EQ(store->values("bob", {"TOKEN"})->at("TOKEN"), "his");
  ASSERT_TRUE(store->remove("bob", "TOKEN"));
  EXPECT_THAT(*store->list("bob"), SizeIs(0));
  EXPECT_EQ(store->values("alice", {"TOKEN"})->at("TOKEN"), "hers");
  EXPECT_EQ(store->remove("bob", "TOKEN").error().code, ErrorCode::not_found);
  ASSERT_TRUE(store->keep_only({"bob"}));
  EXPECT_THAT(*store->list("alice"), SizeIs(0));
}

TEST_F(SecretStoreTest, ARowThatWasGivenAnotherOwnerIsNotDecrypted) {
  ASSERT_TRUE(open()->set("alice", "TOKEN", "hers", Instant{1}));
  {
    auto database = Database::open(folder_ + "/secrets.db");
    ASSERT_TRUE(database && database->execute("UPDATE secrets SET owner = 'bob'"));
  }
  const auto value = open()->values("bob", {"TOKEN"});
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code, ErrorCode::corrupt);
}

// A backup beside a running launcher made a key that the launcher did not have.
TEST_F(SecretStoreTest, WhoOnlyReadsMakesNoKey) {
  ASSERT_TRUE(open());
  std::filesystem::remove(folder_ + "/key");
  const auto store = SecretStore::open(folder_, SecretStore::MissingKey::refuse);
  ASSERT_FALSE(store);
  EXPECT_THAT(store.error().message, HasSubstr("restore the key file"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/key"));
}

TEST_F(SecretStoreTest, WithoutItsKeyItDoesNotOpenAndMakesNoOther) {
  ASSERT_TRUE(open()->set("alice", "TOKEN", "hers", Instant{1}));
  std::filesystem::remove(folder_ + "/key");
  const auto store = SecretStore::open(folder_);
  ASSERT_FALSE(store);
  EXPECT_THAT(store.error().message, HasSubstr("restore the key file"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/key"));
}

TEST_F(SecretStoreTest, BoundsWhatOneUserKeeps) {
  const auto store = open();
  for (std::size_t i = 0; i < kMaxSecretBytesPerUser / kMaxSecretBytes; ++i)
    ASSERT_TRUE(store->set("alice", "S" + std::to_string(i), std::string(kMaxSecretBytes, 'x'),
                           Instant{1}));
  EXPECT_EQ(store->set("alice", "ONE", "x", Instant{1}).error().code,
            ErrorCode::resource_exhausted);
  EXPECT_TRUE(store->set("alice", "S0", "shorter", Instant{1}));
  EXPECT_TRUE(store->set("alice", "ONE", "x", Instant{1}));
  for (std::size_t i = 0; i < kMaxSecretsPerUser; ++i)
    ASSERT_TRUE(store->set("bob", "S" + std::to_string(i), "x", Instant{1}));
  EXPECT_EQ(store->set("bob", "ONE", "x", Instant{1}).error().code, ErrorCode::resource_exhausted);
}

}  // namespace
}  // namespace lockstep::launcher
