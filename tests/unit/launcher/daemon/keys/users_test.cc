#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

#include "common/grammar/key_word.h"
#include "common/io/file_system.h"
#include "launcher/daemon/keys/authorized_users.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {
namespace {

using Lines = std::vector<KeysFile::Line>;

// Reads the file again first.
bool lists_by_now(AuthorizedUsers& users, const PublicKey& key) {
  std::this_thread::sleep_for(kKeysFileHolds);
  return users.lists(key);
}

TEST(AuthorizedUsers, AreReadAgainWhenTheFileChanges) {
  test::TempDir dir;
  const auto path = dir.path() + "/authorized_users";
  const PublicKey ann(std::string(40, 'a')), bob(std::string(40, 'b'));
  AuthorizedUsers users(path);
  EXPECT_EQ(users.look(), Lines{}) << "no file: nobody, said once";
  EXPECT_EQ(users.look(), std::nullopt);
  ASSERT_TRUE(io::write_file_atomically(path, "# people\nann " + ann.value + "\n\nbroken line\n"));
  EXPECT_TRUE(lists_by_now(users, ann));
  EXPECT_FALSE(users.lists(bob));
  EXPECT_EQ(users.look(), (Lines{{"ann", ann}}));
  EXPECT_EQ(users.look(), std::nullopt);
  ASSERT_TRUE(io::write_file_atomically(path, "bob " + key_word(bob) + "\n"));
  EXPECT_EQ(users.look(), (Lines{{"bob", bob}})) << "a key as one word counts too";
  EXPECT_FALSE(users.lists(ann)) << "a removed line counts at once";
  ASSERT_EQ(::unlink(path.c_str()), 0);
  EXPECT_EQ(users.look(), Lines{});
}

TEST(AuthorizedUsers, AFileThatEverybodyMayChangeCountsAsEmpty) {
  test::TempDir dir;
  const auto path = dir / "authorized_users";
  const PublicKey ann(std::string(40, 'a'));
  AuthorizedUsers users(path);
  ASSERT_TRUE(io::write_file_atomically(path, "ann " + ann.value + "\n"));
  EXPECT_TRUE(lists_by_now(users, ann));
  ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
  EXPECT_FALSE(lists_by_now(users, ann));
  EXPECT_EQ(users.look(), Lines{});
  ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
  EXPECT_EQ(users.look(), (Lines{{"ann", ann}}));
}

}  // namespace
}  // namespace lockstep::launcher
