// What a channel brings, by a tool that is a function here: the real one is in conda_share_test.cc.

#include "agent/environment/package_share.h"

#include <gtest/gtest.h>

#include <chrono>

#include "common/io/file_system.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::agent {
namespace {

const std::string kFirst = "first package", kSecond = "the second";

PackageFile file_of(const std::string& text) { return {sha256(text), text.size(), false}; }

class ChannelOrigins : public testing::Test {
 protected:
  ChannelOrigins() {
    dir.folder("fetched");
    share.take = [this](const std::string& path, const PackageFile& file) -> Status {
      TRY_ASSIGN(const std::string text, io::read_file(path));
      if (sha256(text) != file.digest) return make_error(ErrorCode::corrupt, "another one");
      taken.push_back(text);
      return {};
    };
  }
  // A tool that does nothing but run.
  ChannelOrigin::Site site() {
    return {dir / "wanted", dir / "fetched",
            [this](const std::function<bool()>& go_on) -> Status {
              ++starts;
              while (go_on() && !ends) std::this_thread::sleep_for(std::chrono::milliseconds(1));
              return make_error(ErrorCode::conflict, "ended");
            },
            [this] { return state; }};
  }
  void fetched(const std::string& text) { dir.file("fetched/" + sha256(text).hex(), text); }

  test::TempDir dir;
  ShareFunctions share;
  std::vector<std::string> taken;
  std::atomic<int> starts = 0;
  std::atomic<bool> ends = false;
  Status state;
};

TEST_F(ChannelOrigins, OneToolFetchesWhatIsAskedFor) {
  {
    ChannelOrigin origin(site(), share);
    EXPECT_EQ(origin.poll()->bytes, 0u);
    EXPECT_EQ(starts, 0) << "nothing was asked for";
    origin.ask(file_of(kFirst));
    origin.ask(file_of(kFirst));
    origin.ask(file_of(kSecond));
    EXPECT_TRUE(io::exists(dir / ("wanted/" + sha256(kFirst).hex())));
    EXPECT_TRUE(io::exists(dir / ("wanted/" + sha256(kSecond).hex())));

    dir.file("fetched/" + sha256(kFirst).hex() + ".part", kFirst.substr(0, 5));
    EXPECT_EQ(origin.poll()->bytes, 5u);
    EXPECT_EQ(origin.poll()->bytes, 0u);
    fetched(kFirst);
    EXPECT_EQ(origin.poll()->bytes, kFirst.size() - 5);
    EXPECT_EQ(taken, std::vector{kFirst});
    EXPECT_FALSE(io::exists(dir / ("fetched/" + sha256(kFirst).hex())));
    EXPECT_EQ(origin.files(), 1u);
    EXPECT_EQ(origin.bytes(), kFirst.size());
    EXPECT_FALSE(origin.poll()->is_gone);
  }
  EXPECT_EQ(starts, 1);
}

// The folder of what was fetched lies in one of the user's.
TEST_F(ChannelOrigins, ASymlinkInPlaceOfWhatWasFetchedHasNothingElseRemoved) {
  const std::string name = sha256(kFirst).hex();
  dir.file("elsewhere/" + name, kFirst);
  ASSERT_EQ(::rmdir((dir / "fetched").c_str()), 0);
  dir.link(dir / "elsewhere", "fetched");
  ChannelOrigin origin(site(), share);
  origin.ask(file_of(kFirst));
  ASSERT_TRUE(origin.poll());
  EXPECT_TRUE(io::exists(dir / ("elsewhere/" + name)));
}

TEST_F(ChannelOrigins, AnotherFileThanTheOneThatWasAskedForIsTheLast) {
  ChannelOrigin origin(site(), share);
  origin.ask(file_of(kFirst));
  dir.file("fetched/" + sha256(kFirst).hex(), "lies and lies");
  EXPECT_TRUE(origin.poll()->is_gone);
  EXPECT_TRUE(taken.empty());
  EXPECT_EQ(origin.files(), 0u);
}

TEST_F(ChannelOrigins, WhatIsNoFileIsNotTaken) {
  ChannelOrigin origin(site(), share);
  origin.ask(file_of(kFirst));
  dir.file("elsewhere", kFirst);
  dir.link(dir / "elsewhere", "fetched/" + sha256(kFirst).hex());
  EXPECT_EQ(origin.poll()->bytes, 0u);
  EXPECT_TRUE(taken.empty());
}

TEST_F(ChannelOrigins, WhatAToolLeavesBehindCounts) {
  ChannelOrigin origin(site(), share);
  origin.ask(file_of(kFirst));
  fetched(kFirst);
  ends = true;
  bool is_gone = false;
  for (int i = 0; i < 60'000 && !is_gone; ++i) {
    is_gone = origin.poll()->is_gone;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(is_gone);
  EXPECT_EQ(taken, std::vector{kFirst});
}

TEST_F(ChannelOrigins, WhoStopsStopsItAll) {
  ChannelOrigin origin(site(), share);
  origin.ask(file_of(kFirst));
  state = make_error(ErrorCode::conflict, "stopped");
  const auto news = origin.poll();
  ASSERT_FALSE(news);
  EXPECT_EQ(news.error().message, "stopped");
}

}  // namespace
}  // namespace lockstep::agent
