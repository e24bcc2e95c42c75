#include "launcher/cli/link/endpoint.h"
#include "tests/unit/support/temp_dir.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace lockstep::cli {
namespace {

const std::string kKey(40, 'k');

std::string text(int pid, std::uint64_t ticks) {
  return R"({"pid": )" + std::to_string(pid) + R"(, "start_ticks": )" + std::to_string(ticks) +
         R"(, "control": "ipc:///c", "bulk": "ipc:///b", "join": "tcp://127.0.0.1:7", "public_key": ")" +
         kKey + R"(", "later": 1})";
}

TEST(Endpoint, IsReadFromJson) {
  const auto endpoint = endpoint_from(text(12, 34));
  ASSERT_TRUE(endpoint);
  EXPECT_EQ(*endpoint,
            (Endpoint{{12, 34}, "ipc:///c", "ipc:///b", "tcp://127.0.0.1:7", PublicKey(kKey)}));
  for (const char* bad : {"", "{", "[]", "{}", R"({"control": 1})"})
    EXPECT_FALSE(endpoint_from(bad));
}

TEST(Endpoint, OtherTransportsAreRefused) {
  std::string json = text(12, 34);
  json.replace(json.find("ipc:///b"), 3, "pgm");
  const auto endpoint = endpoint_from(json);
  ASSERT_FALSE(endpoint);
  EXPECT_NE(endpoint.error().message.find("pgm:///b begins with neither"), std::string::npos);
}

TEST(Endpoint, TheAddressOfAnotherPortIsNoControlAddress) {
  for (const auto& [other, name] : {std::pair("ipc:///b", "bulk"), {"tcp://127.0.0.1:7", "join"}}) {
    std::string json = text(12, 34);
    json.replace(json.find("ipc:///c"), 8, other);
    const auto endpoint = endpoint_from(json);
    ASSERT_FALSE(endpoint) << name;
    EXPECT_NE(endpoint.error().message.find(std::string("as ") + name + " is"), std::string::npos)
        << endpoint.error().message;
  }
}

TEST(Endpoint, OnItsOwnMachineIsDialledLocally) {
  const auto me = io::identify(getpid());
  ASSERT_TRUE(me);
  const auto with_local = [&](std::uint64_t ticks, const std::string& boot) {
    std::string json = text(me->pid, ticks);
    json.pop_back();
    json += R"(, "boot": ")" + boot + R"(", "local": {"control": "tcp://127.0.0.1:5"}})";
    return endpoint_from(json)->control;
  };
  const std::string boot = io::current_boot().value;
  EXPECT_EQ(with_local(me->start_ticks, boot), "tcp://127.0.0.1:5");
  EXPECT_EQ(with_local(me->start_ticks, "another"), "ipc:///c") << "a copy on another machine";
  EXPECT_EQ(with_local(me->start_ticks + 1, boot), "ipc:///c");
}

TEST(Endpoint, IsLiveOnlyWithItsProcess) {
  const test::TempDir dir;
  const std::string file = dir / "endpoint.json";
  EXPECT_FALSE(live_endpoint(file));
  const auto me = io::identify(getpid());
  ASSERT_TRUE(me);
  std::ofstream(file) << text(me->pid, me->start_ticks);
  EXPECT_TRUE(live_endpoint(file));
  std::ofstream(file) << text(me->pid, me->start_ticks + 1);
  EXPECT_FALSE(live_endpoint(file)) << "another process got the pid";
}

}  // namespace
}  // namespace lockstep::cli
