// Fetches from datastores and writes to them: one user's many delay no other user's one.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "common/snapshot/manifest.h"
#include "launcher/daemon/remotes/fetcher.h"
#include "launcher/daemon/remotes/writer.h"
#include "launcher/daemon/work/principal.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {
namespace {

// An rclone that notes what it was asked for, and fails when the test lets it go.
class RemoteTurns : public testing::Test {
 protected:
  RemoteTurns() {
    dir.file("rclone.conf", "[there]\ntype = webdav\n", 0600);
    dir.file("bin/rclone",
             fmt::format("#!/bin/sh\necho \"$*\" >> {0}/begun\nwhile [ ! -e {0}/go ]; do sleep "
                         "0.02; done\nexit 1\n",
                         dir.path()),
             0755);
    if (const char* path = std::getenv("PATH")) path_ = path;
    ::setenv("PATH", fmt::format("{}/bin:{}", dir.path(), path_).c_str(), 1);
  }
  ~RemoteTurns() override { ::setenv("PATH", path_.c_str(), 1); }

  RemoteFiles files(const std::string& user, int number) const {
    return {"there:bucket", dir / "rclone.conf", fmt::format("{}-{}", user, number), "shown"};
  }
  void let_go() const { dir.file("go", ""); }
  // One line for each rclone that has begun.
  std::vector<std::string> begun() const {
    std::ifstream in(dir / "begun");
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
  std::size_t begun_of(const std::string& user) const {
    const auto lines = begun();
    return static_cast<std::size_t>(
        std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
          return line.find("bucket/" + user + "-") != std::string::npos;
        }));
  }
  std::size_t place_of(const std::string& user) const {
    const auto lines = begun();
    const auto is_theirs = [&](const std::string& line) {
      return line.find("bucket/" + user + "-") != std::string::npos;
    };
    return static_cast<std::size_t>(std::find_if(lines.begin(), lines.end(), is_theirs) -
                                    lines.begin());
  }
  void turn_until(const std::function<bool()>& done) {
    const auto end = std::chrono::steady_clock::now() + seconds(60);
    while (!done() && std::chrono::steady_clock::now() < end) loop.turn(milliseconds(5));
    ASSERT_TRUE(done());
  }
  // Every place is taken, and more of each user wait; then alice asks for one thing.
  void expect_alice_in_turn(const std::function<void(const std::string& user, int number)>& ask) {
    constexpr int kUsers = 4, kOfOne = 15;
    for (int user = 0; user < kUsers; ++user)
      for (int number = 0; number < kOfOne; ++number) ask(fmt::format("user{}", user), number);
    turn_until([&] { return begun().size() == RemoteFetcher::kAtOnce; });
    ask("alice", 0);
    let_go();
    turn_until([&] { return answered == kUsers * kOfOne + 1; });
    EXPECT_LT(place_of("alice"), 30U) << "in the order of their coming it would be the last";
  }

  test::TempDir dir;
  io::EventLoop loop;
  std::unique_ptr<snapshot::BlobStore> store = *snapshot::BlobStore::open(dir / "blobs");
  int answered = 0, refused = 0;

 private:
  std::string path_ = "/usr/bin:/bin";
};

struct FetchTurns : RemoteTurns {
  void fetch(const std::string& user, int number) {
    fetcher.fetch(
        principal_of_user(user), files(user, number), [](const std::string&) {},
        [this](const Result<snapshot::Subtree>& found) {
          ++answered;
          if (!found && found.error().code == ErrorCode::resource_exhausted) ++refused;
        });
  }
  RemoteFetcher fetcher{loop, *store, dir / "remotes", minutes(5)};
};

TEST_F(FetchTurns, OneUserHasOnlyAPartOfWhatIsFetchedAtOnce) {
  for (int number = 0; number < 20; ++number) fetch("bob", number);
  turn_until([&] { return begun_of("bob") == RemoteFetcher::kAtOnceOfUser; });
  fetch("alice", 0);
  turn_until([&] { return begun_of("alice") == 1; });
  EXPECT_EQ(begun_of("bob"), RemoteFetcher::kAtOnceOfUser);
  EXPECT_EQ(answered, 0) << "none of his has ended";
  let_go();
  turn_until([&] { return answered == 21; });
}

TEST_F(FetchTurns, AreBetweenUsers) {
  expect_alice_in_turn([this](const std::string& user, int number) { fetch(user, number); });
}

TEST_F(FetchTurns, WhatIsTooMuchOfOneUserIsRefusedAndNothingOfAnother) {
  for (int number = 0; number < 100; ++number) fetch("bob", number);
  constexpr int kTaken =
      static_cast<int>(RemoteFetcher::kMaxWaitingOfUser + RemoteFetcher::kAtOnceOfUser);
  turn_until([&] { return refused == 100 - kTaken; });
  fetch("alice", 0);
  turn_until([&] { return begun_of("alice") == 1; });
  let_go();
  turn_until([&] { return answered == 101; });
  EXPECT_EQ(refused, 100 - kTaken);
}

struct WriteTurns : RemoteTurns {
  WriteTurns() {
    const std::string empty = encode(snapshot::Directory{});
    tree = sha256(empty);
    EXPECT_TRUE(store->put(tree, empty));
  }
  void write(const std::string& user, int number) {
    WriteOutput what;
    what.job = JobId(user);
    what.output = "o";
    what.to = "shown";
    what.tree = tree;
    what.user = user;
    writer.write(what, files(user, number), [this](const Status&) { ++answered; });
  }
  Digest tree;
  RemoteWriter writer{loop, *store, dir / "remotes", minutes(5)};
};

TEST_F(WriteTurns, OneUserHasOnlyAPartOfWhatIsWrittenAtOnce) {
  for (int number = 0; number < 20; ++number) write("bob", number);
  turn_until([&] { return begun_of("bob") == RemoteWriter::kAtOnceOfUser; });
  write("alice", 0);
  turn_until([&] { return begun_of("alice") == 1; });
  EXPECT_EQ(begun_of("bob"), RemoteWriter::kAtOnceOfUser);
  EXPECT_EQ(answered, 0) << "none of his has ended";
  let_go();
  turn_until([&] { return answered == 21; });
}

TEST_F(WriteTurns, AreBetweenUsers) {
  static_assert(RemoteWriter::kAtOnce == RemoteFetcher::kAtOnce);
  expect_alice_in_turn([this](const std::string& user, int number) { write(user, number); });
}

}  // namespace
}  // namespace lockstep::launcher
