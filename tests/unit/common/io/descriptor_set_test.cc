#include "common/io/descriptor_set.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <vector>

#include "tests/unit/common/io/helpers.h"

namespace lockstep::io {
namespace {

// Two connected sockets; `near` is the one in the set.
struct Sockets {
  Sockets() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    near.reset(ends[0]);
    far.reset(ends[1]);
  }
  Fd near, far;
};

TEST(DescriptorSet, TellsWhatIsReadyAsLongAsItIs) {
  EventLoop loop;
  DescriptorSet set(loop);
  const Sockets sockets;
  int readable = 0, writable = 0;
  ASSERT_TRUE(set.add(sockets.near.get(), {true, false}, [&](DescriptorSet::Ready ready) {
    if (ready.read) ++readable;
    if (ready.write) ++writable;
  }));
  loop.turn(Duration::zero());
  EXPECT_EQ(readable, 0);
  ASSERT_TRUE(write_all(sockets.far.get(), "x"));
  EXPECT_TRUE(turn_until(loop, [&] { return readable >= 2; })) << "level-triggered";
  EXPECT_EQ(writable, 0);
  set.change(sockets.near.get(), {false, true});
  const int before = readable;
  EXPECT_TRUE(turn_until(loop, [&] { return writable >= 2; }));
  EXPECT_EQ(readable, before) << "nobody is interested any more";
}

TEST(DescriptorSet, TellsOfAnEndWithoutAnInterest) {
  EventLoop loop;
  DescriptorSet set(loop);
  Sockets sockets;
  bool broken = false;
  ASSERT_TRUE(set.add(sockets.near.get(), {}, [&](DescriptorSet::Ready ready) {
    broken = ready.broken;
    set.remove(sockets.near.get());
  }));
  sockets.far.reset();
  EXPECT_TRUE(turn_until(loop, [&] { return broken; }));
  EXPECT_EQ(set.size(), 0U);
}

TEST(DescriptorSet, AnEventIsNotOfALaterDescriptorWithTheSameNumber) {
  EventLoop loop;
  DescriptorSet set(loop);
  Sockets first, second;
  int late = 0;
  const auto replace = [&](Sockets& other) {
    // Both are ready in this turn; whoever comes first closes the other and reuses its number.
    const int number = other.near.get();
    set.remove(number);
    const Sockets fresh;
    ASSERT_EQ(::dup2(fresh.near.get(), number), number);
    ASSERT_TRUE(set.add(number, {true, false}, [&](DescriptorSet::Ready ready) {
      if (ready.read) ++late;
    }));
  };
  int calls = 0;
  ASSERT_TRUE(set.add(first.near.get(), {true, false}, [&](DescriptorSet::Ready) {
    if (++calls == 1) replace(second);
  }));
  ASSERT_TRUE(set.add(second.near.get(), {true, false}, [&](DescriptorSet::Ready) {
    if (++calls == 1) replace(first);
  }));
  ASSERT_TRUE(write_all(first.far.get(), "x"));
  ASSERT_TRUE(write_all(second.far.get(), "x"));
  EXPECT_TRUE(turn_until(loop, [&] { return calls == 1; }));
  EXPECT_EQ(late, 0) << "the event was of the descriptor before";
}

TEST(DescriptorSet, WhatIsReadyIsToldForHundreds) {
  EventLoop loop;
  DescriptorSet set(loop);
  std::vector<Sockets> all(400);
  std::vector<int> heard(all.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    ASSERT_TRUE(set.add(all[i].near.get(), {true, false}, [&, i](DescriptorSet::Ready) {
      char byte = 0;
      if (::read(all[i].near.get(), &byte, 1) == 1) ++heard[i];
    }));
  for (const Sockets& each : all) ASSERT_TRUE(write_all(each.far.get(), "x"));
  EXPECT_TRUE(turn_until(loop, [&] {
    for (const int count : heard)
      if (count != 1) return false;
    return true;
  }));
}

}  // namespace
}  // namespace lockstep::io
