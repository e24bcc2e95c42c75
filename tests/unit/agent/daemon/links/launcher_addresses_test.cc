#include "agent/daemon/links/launcher_addresses.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "agent/daemon/links/moved_file.h"
#include "common/io/net/transport.h"
#include "tests/unit/agent/helpers.h"

namespace lockstep::agent {
namespace {

LauncherAddress at(int port) {
  return {fmt::format("tcp://head:{}", port), fmt::format("tcp://head:{}", port + 1)};
}

TEST(KnownAddresses, AreTriedInTurnAndTheOneThatAnswersComesFirst) {
  KnownAddresses known(at(1), {at(10), at(20)});
  EXPECT_EQ(known.current(), at(1));
  known.next();
  known.next();
  EXPECT_EQ(known.current(), at(20));
  known.answered();
  EXPECT_EQ(known.current(), at(20));
  EXPECT_EQ(known.known(), (std::vector{at(20), at(1), at(10)})) << "the old one stays";
  for (int i = 0; i < 3; ++i) known.next();
  EXPECT_EQ(known.current(), at(20));
}

TEST(KnownAddresses, OfTheLaunchersWordsComeNextAndChangeNotWhereItIsDialled) {
  KnownAddresses known(at(1), {at(10)});
  known.next();
  known.told({at(1), at(30), at(40)});
  EXPECT_EQ(known.current(), at(10));
  EXPECT_EQ(known.known(), (std::vector{at(1), at(30), at(40), at(10)}));
  known.told({{"ipc:///tmp/x", "ipc:///tmp/y"},
              {"tcp://head", "tcp://head:2"},
              {"", ""},
              {"tcp://me@head:1", "tcp://head:2"},
              {"tcp://head:1", "tcp://he ad:2"}});
  EXPECT_EQ(known.known().size(), 4U) << "what cannot be dialled is left out";
}

TEST(KnownAddresses, OfAPersonIsDialledAtOnceAndTheOldOnesStay) {
  KnownAddresses known(at(1), {});
  known.moved(at(50));
  EXPECT_EQ(known.current(), at(50));
  known.next();
  EXPECT_EQ(known.current(), at(1));
}

TEST(KnownAddresses, AreNotEndless) {
  KnownAddresses known(at(1), {});
  for (int i = 1; i <= 50; ++i) {
    known.told({at(100 * i), at(100 * i + 10)});
    known.moved(at(100 * i + 50));
  }
  EXPECT_EQ(known.known().size(), kMaxLauncherAddresses);
  EXPECT_EQ(known.current(), at(5050));
}

class MovedFileTest : public testing::Test {
 protected:
  void write(const std::string& path, const PublicKey& launcher, int port) {
    ASSERT_TRUE(io::write_file_atomically(path, wire::encode(token_for(launcher, at(port)))));
  }
  TempDir dir_;
  const std::string path_ = dir_.path() + "/moved";
  const PublicKey launcher_ = io::generate_key_pair().public_key;
};

TEST_F(MovedFileTest, AMessageIsReadOnceAndRemoved) {
  write(path_, launcher_, 7070);
  MovedFile file(path_, launcher_, MovedFile::Kind::message);
  EXPECT_EQ(file.look(), at(7070));
  EXPECT_FALSE(io::exists(path_));
  EXPECT_EQ(file.look(), std::nullopt);
  write(path_, launcher_, 7071);
  EXPECT_EQ(file.look(), at(7071));
}

TEST_F(MovedFileTest, ATokenIsReadWhenItIsAnother) {
  write(path_, launcher_, 7070);
  MovedFile file(path_, launcher_, MovedFile::Kind::token);
  EXPECT_EQ(file.look(), std::nullopt) << "it was read to join with";
  write(path_, launcher_, 7071);
  EXPECT_EQ(file.look(), at(7071));
  EXPECT_TRUE(io::exists(path_));
  EXPECT_EQ(file.look(), std::nullopt);
}

TEST_F(MovedFileTest, AnotherLaunchersTokenSaysNothing) {
  write(path_, io::generate_key_pair().public_key, 7070);
  MovedFile file(path_, launcher_, MovedFile::Kind::message);
  EXPECT_EQ(file.look(), std::nullopt);
  ASSERT_TRUE(io::write_file_atomically(path_, "no token"));
  EXPECT_EQ(file.look(), std::nullopt);
}

}  // namespace
}  // namespace lockstep::agent
