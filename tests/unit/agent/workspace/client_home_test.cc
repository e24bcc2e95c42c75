// The folder with which ranks reach the launcher: whole, closed to others, and its user's last.

#include "agent/workspace/client_home.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/io/file_system.h"
#include "common/io/net/transport.h"
#include "common/io/process.h"
#include "tests/unit/agent/workspace/fixture.h"

namespace lockstep::agent {
namespace {

struct OwnerAndMode {
  mode_t mode;
  uid_t owner;
  friend bool operator==(const OwnerAndMode&, const OwnerAndMode&) = default;
};
OwnerAndMode owner_and_mode(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
  return {info.st_mode & 07777, info.st_uid};
}

void expect_home_of(const snapshot::Owner& owner) {
  const snapshot::TempDir parent;
  const io::AttemptDir directory(parent.path() + "/attempt");
  ASSERT_TRUE(io::make_directories(directory.path(), 0711));
  const io::KeyPair key = io::generate_key_pair();
  // A staging that was cut off has left one.
  ASSERT_TRUE(io::make_directories(directory.client_home() + "/keys", 0700));
  ASSERT_TRUE(io::write_file_atomically(directory.client_home() + "/keys/user.key", "old", 0600));
  const Status made =
      make_client_home(directory, {"{}\n", key.secret_key, {JobId("train"), 2, 7}}, owner);
  ASSERT_TRUE(made) << made.error().message;
  const std::string home = directory.client_home();
  EXPECT_EQ(owner_and_mode(home), (OwnerAndMode{0700, owner.uid}));
  EXPECT_EQ(owner_and_mode(home + "/keys"), (OwnerAndMode{0700, owner.uid}));
  EXPECT_EQ(owner_and_mode(home + "/keys/user.key"), (OwnerAndMode{0600, owner.uid}));
  EXPECT_EQ(owner_and_mode(home + "/endpoint.json"), (OwnerAndMode{0600, owner.uid}));
  const auto read = io::load_or_create_key_pair(home + "/keys/user.key");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->public_key, key.public_key);
  EXPECT_EQ(*io::read_file(home + "/endpoint.json"), "{}\n");
  EXPECT_EQ(owner_and_mode(home + "/keys/attempt"), (OwnerAndMode{0600, owner.uid}));
  EXPECT_EQ(*io::read_file(home + "/keys/attempt"), "attempt 2 of job train");
}

TEST(ClientHome, IsOurOwnUsers) { expect_home_of(snapshot::current_owner()); }

TEST(ClientHome, IsGivenToTheRunAsUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const auto nobody = io::find_user("nobody");
  ASSERT_TRUE(nobody);
  expect_home_of({nobody->uid, nobody->gid});
}

TEST(ClientHome, OfNoKeyIsNotMade) {
  const snapshot::TempDir parent;
  const io::AttemptDir directory(parent.path());
  EXPECT_FALSE(make_client_home(directory, {"{}\n", "short", {}}, snapshot::current_owner()));
  EXPECT_FALSE(io::exists(directory.client_home()));
}

}  // namespace
}  // namespace lockstep::agent
