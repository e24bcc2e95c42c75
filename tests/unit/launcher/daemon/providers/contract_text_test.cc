#include "launcher/daemon/providers/contract_text.h"

#include <gmock/gmock.h>

#include "common/domain/why/nodes/providers.h"
#include "launcher/daemon/providers/target_log.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {
namespace {

using testing::HasSubstr;
using Kind = ProviderEvent::Kind;

TEST(ProviderWords, EventsAreRead) {
  const auto step = read_event(R"({"event":"step","machine":"vm1","step":"copy","more":[1]})");
  ASSERT_TRUE(step);
  EXPECT_EQ(step->kind, Kind::step);
  EXPECT_EQ(step->machine, "vm1");
  EXPECT_EQ(step->step, "copy");
  const auto runs = read_event(
      R"({"event":"machine","machine":"vm1","state":"running","about":{"tunnel":true,"n":4,"a":"b"}})");
  ASSERT_TRUE(runs);
  EXPECT_EQ(runs->kind, Kind::running);
  EXPECT_EQ(runs->about,
            (std::map<std::string, std::string>{{"tunnel", "true"}, {"n", "4"}, {"a", "b"}}));
  EXPECT_TRUE(runs->is_held);
  EXPECT_FALSE(runs->ends);
  EXPECT_EQ(read_event(R"({"event":"machine","machine":"v","state":"absent"})")->kind,
            Kind::absent);
  const auto warning =
      read_event(R"({"event":"warning","machine":"v","step":"check","message":"a\nb"})");
  EXPECT_EQ(warning->kind, Kind::warning);
  EXPECT_EQ(warning->why, Why(ProviderSaid{"a b"}));
  const auto error = read_event(
      R"({"event":"error","machine":"v","step":"copy","code":"no_space","message":"full"})");
  EXPECT_EQ(error->kind, Kind::error);
  EXPECT_EQ(error->fault, MachineFault::no_space);
  EXPECT_EQ(error->why, Why(ProviderSaid{"full"}));
  const auto notice =
      read_event(R"({"event":"notice","machine":"v","seconds":90.5,"message":"spot"})");
  EXPECT_EQ(notice->kind, Kind::notice);
  EXPECT_EQ(notice->left, milliseconds(90'500));
  EXPECT_EQ(notice->why, Why(ProviderSaid{"spot"}));
}

TEST(ProviderWords, AStoppedMachineHasFailed) {
  const auto event = read_event(R"({"event":"machine","machine":"v","state":"stopped"})");
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, Kind::error);
  EXPECT_EQ(event->fault, MachineFault::failed);
  EXPECT_TRUE(event->why.is<MachineAgentDown>());
}

TEST(ProviderWords, AnUnknownCodeIsFailed) {
  EXPECT_EQ(read_event(R"({"event":"error","machine":"v","step":"s","code":"quota","message":"m"})")
                ->fault,
            MachineFault::failed);
}

TEST(ProviderWords, AProviderThatWantsToTellNoticesIsHeld) {
  const auto is_held = [](const std::string& about) {
    const auto runs = read_event(R"({"event":"machine","machine":"v","state":"running","about":{)" +
                                 about + "}}");
    return runs && runs->is_held;
  };
  EXPECT_TRUE(is_held(R"("hold":true,"tunnel":true)"));
  EXPECT_TRUE(is_held(R"("hold":"true","tunnel":false)"));
  EXPECT_FALSE(is_held(R"("hold":false)"));
  EXPECT_FALSE(is_held(R"("hold":"yes")"));
}

// What is left changes each time that the provider is asked, and is no news about the machine.
TEST(ProviderWords, TheLifeOfAMachineIsNoFinding) {
  const auto runs = read_event(R"({"event":"machine","machine":"v","state":"running",)"
                               R"("about":{"job":"7","lifetime":"60","left":58}})");
  ASSERT_TRUE(runs);
  EXPECT_EQ(runs->about, (std::map<std::string, std::string>{{"job", "7"}}));
  EXPECT_EQ(runs->lifetime, seconds(60));
  EXPECT_EQ(runs->ends, seconds(58));
  EXPECT_EQ(to_log(*runs), "runs job=7 left=58 lifetime=60");
  for (const char* bad : {"-1", "soon", "", "1e3", "999999999999"}) {
    const auto odd =
        read_event(R"({"event":"machine","machine":"v","state":"running","about":{"left":")" +
                   std::string(bad) + "\"}}");
    ASSERT_TRUE(odd);
    EXPECT_FALSE(odd->ends) << bad;
    EXPECT_TRUE(odd->about.empty()) << bad;
  }
}

TEST(ProviderWords, AMachineMayHaveToWait) {
  const auto waits = read_event(
      R"({"event":"machine","machine":"v","state":"pending","about":{"reason":"Resources"}})");
  ASSERT_TRUE(waits);
  EXPECT_EQ(waits->kind, Kind::pending);
  EXPECT_EQ(waits->why, Why(ProviderSaid{"Resources"}));
  EXPECT_EQ(to_log(*waits), "waits: Resources");
  const auto silent = read_event(R"({"event":"machine","machine":"v","state":"pending"})");
  ASSERT_TRUE(silent);
  EXPECT_FALSE(silent->why);
  EXPECT_EQ(to_log(*silent), "waits");
}

TEST(ProviderWords, WhatIsNoEventIsRefused) {
  for (const char* line :
       {"", "x", "[]", "3", "{", R"({"event":"step"})", R"({"event":1,"machine":"v","step":"s"})",
        R"({"event":"step","machine":"","step":"s"})",
        R"({"event":"step","machine":["v"],"step":"s"})", R"({"event":"party","machine":"v"})",
        R"({"event":"machine","machine":"v","state":"odd"})",
        R"({"event":"machine","machine":"v","state":"running","about":[1]})",
        R"({"event":"machine","machine":"v","state":"running","about":{"a":{}}})",
        R"({"event":"error","machine":"v","step":"s","message":"m"})",
        R"({"event":"notice","machine":"v"})", R"({"event":"notice","machine":"v","seconds":-1})",
        R"({"event":"notice","machine":"v","seconds":"9"})",
        R"({"event":"notice","machine":"v","seconds":86401})",
        "{\"event\":\"step\",\"machine\":\"v\",\"step\":\"\xff\"}"})
    EXPECT_FALSE(read_event(line)) << line;
  std::string many = R"({"event":"machine","machine":"v","state":"running","about":{)";
  for (int i = 0; i < 33; ++i) many += (i ? ",\"" : "\"") + std::to_string(i) + "\":\"\"";
  EXPECT_FALSE(read_event(many + "}}"));
  EXPECT_FALSE(read_event(std::string(60'000, '[')));
}

TEST(ProviderWords, LongTextsAreCut) {
  const auto event = read_event(R"({"event":"warning","machine":"v","step":"s","message":")" +
                                std::string(9'000, 'm') + "\"}");
  ASSERT_TRUE(event);
  EXPECT_LE(event->why.as<ProviderSaid>()->said.size(), kMaxEventTextBytes + 3);
  EXPECT_FALSE(
      read_event(R"({"event":"step","machine":"v","step":")" + std::string(65, 's') + "\"}"));
}

TEST(ProviderWords, TheTagIsStableAndPlain) {
  PublicKey key;
  key.value = std::string(40, 'k');
  EXPECT_EQ(tag_of(key), tag_of(key));
  EXPECT_EQ(tag_of(key).size(), 12u);
  EXPECT_EQ(tag_of(key).find_first_not_of("0123456789abcdef"), std::string::npos);
}

// ---- the log ------------------------------------------------------------------------------------

class ProviderLogTest : public testing::Test {
 protected:
  ProviderLogTest() { EXPECT_TRUE(io::make_directories(home.compute(), 0700)); }
  void add(const std::string& text) {
    log.add("vms", Instant{1'000'000'000}, "create", "vm1", text);
  }

  test::TempDir dir;
  LauncherHome home{dir.path() + "/home"};
  ProviderLog log{home};
};

TEST_F(ProviderLogTest, TheNewestLinesAreLast) {
  EXPECT_EQ(log.newest("vms", 0), "");
  add("one");
  add("two\nand \x1b[31m more");
  const std::string head = "1970-01-01T00:00:01.000Z create vm1 ";
  EXPECT_EQ(log.newest("vms", 0), head + "one\n" + head + "two and ?[31m more\n");
  EXPECT_EQ(log.newest("vms", 1), head + "two and ?[31m more\n");
  EXPECT_EQ(log.newest("vms", 2), log.newest("vms", 0));
  EXPECT_EQ(log.newest("vms", 99), log.newest("vms", 0));
}

TEST_F(ProviderLogTest, ItIsBoundedOnDiskAndInAReply) {
  const std::string text(4'000, 'x');
  for (int i = 0; i < 3'000; ++i) add(std::to_string(i) + text);
  const auto size = [](const std::string& path) { return io::read_file(path).value_or("").size(); };
  EXPECT_LE(size(home.compute_log("vms")), ProviderLog::kMaxFileBytes + 8'192);
  EXPECT_GE(size(home.old_compute_log("vms")), ProviderLog::kMaxFileBytes);
  EXPECT_EQ(io::list_directory(home.compute())->size(), 2u);
  const std::string newest = log.newest("vms", 0);
  EXPECT_LE(newest.size(), kMaxComputeLogBytes);
  EXPECT_GE(newest.size(), kMaxComputeLogBytes / 2);
  EXPECT_EQ(newest.find("1970"), 0u);
  EXPECT_THAT(newest, HasSubstr(" 2999xxx"));
}

TEST_F(ProviderLogTest, ASymbolicLinkIsNotFollowed) {
  const std::string victim = dir.path() + "/victim";
  ASSERT_TRUE(io::write_file_atomically(victim, "", 0600, false));
  ASSERT_EQ(::symlink(victim.c_str(), home.compute_log("vms").c_str()), 0);
  add("one");
  EXPECT_EQ(io::read_file(victim).value_or("?"), "");
}

}  // namespace
}  // namespace lockstep::launcher
