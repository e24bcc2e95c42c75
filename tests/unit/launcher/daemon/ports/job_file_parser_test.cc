#include "launcher/daemon/ports/job_file_parser.h"

#include <gmock/gmock.h>

#include <chrono>

namespace lockstep::launcher {
namespace {

TEST(JobFileParserTest, OneUsersFilesAreBoundedAndDelayAnothersByOne) {
  io::EventLoop loop;
  JobFileParser parser(loop);
  CheckJobFile large, small;
  small.text = large.text = "command: 'true'\n";
  large.text += "tags:\n";
  for (int i = 0; i < 9'000; ++i) large.text += "  tag" + std::to_string(i) + ": value\n";
  std::vector<std::string> parsed;
  const auto ask = [&](const std::string& who, const CheckJobFile& file) {
    return parser.parse("user " + who, file,
                        [&parsed, who](const spec::JobFileReading&) { parsed.push_back(who); });
  };
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(ask("bob", large));
  Status last = ask("bob", large);  // the first may have begun, and waits no more
  if (last) last = ask("bob", large);
  ASSERT_FALSE(last);
  EXPECT_EQ(last.error().code, ErrorCode::resource_exhausted);
  EXPECT_THAT(last.error().message, testing::HasSubstr("user bob already has 4 job files"));
  EXPECT_TRUE(ask("alice", small));
  const auto end = std::chrono::steady_clock::now() + seconds(30);
  while (parsed.size() < 5 && std::chrono::steady_clock::now() < end) loop.turn(milliseconds(5));
  const auto alice = std::find(parsed.begin(), parsed.end(), "alice");
  EXPECT_LE(alice - parsed.begin(), 3);
}

}  // namespace
}  // namespace lockstep::launcher
