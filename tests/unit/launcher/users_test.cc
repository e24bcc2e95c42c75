#include "launcher/daemon/authorized_users.h"

#include <gtest/gtest.h>

#include "common/io/file_system.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {
namespace {

TEST(AuthorizedUsers, AreReadAgainWhenTheFileChanges) {
  test::TempDir dir;
  const auto path = dir.path() + "/authorized_users";
  const PublicKey ann(std::string(40, 'a')), bob(std::string(40, 'b'));
  AuthorizedUsers users(path);
  EXPECT_EQ(users.name_of(ann), std::nullopt) << "no file: nobody";
  ASSERT_TRUE(io::write_file_atomically(path, "# people\nann " + ann.value + "\n\nbroken line\n"));
  EXPECT_EQ(users.name_of(ann), "ann");
  EXPECT_EQ(users.name_of(bob), std::nullopt);
  ASSERT_TRUE(io::write_file_atomically(path, "bob " + bob.value + "\n"));
  EXPECT_EQ(users.name_of(bob), "bob");
  EXPECT_EQ(users.name_of(ann), std::nullopt) << "a removed line counts at once";
}

TEST(AuthorizedUsers, AFileThatEverybodyMayChangeLetsNobodyIn) {
  test::TempDir dir;
  const auto path = dir / "authorized_users";
  const PublicKey ann(std::string(40, 'a'));
  AuthorizedUsers users(path);
  ASSERT_TRUE(io::write_file_atomically(path, "ann " + ann.value + "\n"));
  EXPECT_EQ(users.name_of(ann), "ann");
  ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
  EXPECT_EQ(users.name_of(ann), std::nullopt);
  ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
  EXPECT_EQ(users.name_of(ann), "ann");
}

}  // namespace
}  // namespace lockstep::launcher
