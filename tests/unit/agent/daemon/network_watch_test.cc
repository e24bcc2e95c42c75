// The agent sees that its node's network has changed, and tells what stays so.

#include "agent/daemon/network_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/unit/agent/helpers.h"

namespace lockstep::agent {
namespace {

Inventory with_interface(const std::string& name) {
  Inventory inventory;
  FabricInterface one;
  one.name = name;
  inventory.fabric.emplace().interfaces = {one};
  return inventory;
}

struct Watched : testing::Test {
  // Declared first: the workers end last, and post here.
  io::EventLoop loop;
  std::atomic<int> looks{0};
  std::atomic<int> now_is{0};  // which interface there is
  Inventory known = with_interface("eth0");
  std::vector<Inventory> told;
  Workers workers{1};
  NetworkWatch watch{loop, workers, milliseconds(10),
                     [this](Inventory) {
                       ++looks;
                       return with_interface("eth" + std::to_string(now_is.load()));
                     },
                     [this](const Inventory& found) {
                       told.push_back(found);
                       known = found;
                     }};
  io::SystemClock clock;

  void turn() {
    loop.turn(milliseconds(2));
    watch.tick(clock.now(), known);
  }
  bool until(const std::function<bool()>& condition) {
    return turn_until([this] { turn(); }, condition);
  }
};

TEST_F(Watched, ANetworkThatStaysTheSameIsNotTold) {
  EXPECT_TRUE(until([&] { return looks >= 5; }));
  EXPECT_TRUE(told.empty());
}

TEST_F(Watched, AChangeIsToldOnceItWasSeenTwice) {
  now_is = 1;
  EXPECT_TRUE(until([&] { return !told.empty(); }));
  EXPECT_GE(looks.load(), 2);
  EXPECT_EQ(told.front().fabric, with_interface("eth1").fabric);
  const int before = looks;
  EXPECT_TRUE(until([&] { return looks >= before + 3; }));
  EXPECT_EQ(told.size(), 1u);
}

TEST(NetworkWatchTest, ALookThatWaitsForAWorkerWakesNobody) {
  io::EventLoop loop;
  std::atomic<bool> is_held{true}, has_looked{false};
  Workers workers(1);
  workers.submit([&] {
    while (is_held) std::this_thread::yield();
  });
  NetworkWatch watch(
      loop, workers, milliseconds(1),
      [&](Inventory inventory) {
        has_looked = true;
        return inventory;
      },
      [](const Inventory&) {});
  io::SystemClock clock;
  const Instant begun = clock.now();
  watch.tick(begun, Inventory());
  EXPECT_EQ(watch.next_deadline(), begun + milliseconds(1));
  watch.tick(begun + milliseconds(1), Inventory());
  watch.tick(begun + seconds(60), Inventory());
  EXPECT_EQ(watch.next_deadline(), Instant::never());
  is_held = false;
  EXPECT_TRUE(turn_until([&] { loop.turn(milliseconds(2)); },
                         [&] { return watch.next_deadline() != Instant::never(); }));
  EXPECT_TRUE(has_looked.load());
}

TEST(NetworkWatchTest, NeverLooksIfItIsTold) {
  io::EventLoop loop;
  Workers workers(1);
  NetworkWatch watch(
      loop, workers, Duration::zero(),
      [](Inventory inventory) {
        ADD_FAILURE() << "it looked";
        return inventory;
      },
      [](const Inventory&) {});
  EXPECT_EQ(watch.next_deadline(), Instant::never());
  watch.tick(io::SystemClock().now(), Inventory());
}

}  // namespace
}  // namespace lockstep::agent
