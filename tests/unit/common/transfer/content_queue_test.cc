#include "common/transfer/content_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

namespace lockstep::transfer {
namespace {

snapshot::Content content_of(std::size_t size) {
  snapshot::Content content{std::unique_ptr<char[]>(new char[size]), size};
  std::memset(content.data.get(), 'x', size);
  return content;
}

TEST(ContentQueue, WakesOnceForWhatComesBeforeItIsTaken) {
  int woken = 0;
  ContentQueue queue(900, [&] { ++woken; });
  for (const char* name : {"a", "b"}) {
    ASSERT_TRUE(queue.make_room(100));
    queue.take(sha256(name), content_of(100));
  }
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(queue.take_all().size(), 2u);
  EXPECT_TRUE(queue.empty());
  ASSERT_TRUE(queue.make_room(100));
  queue.take(sha256("c"), content_of(100));
  EXPECT_EQ(woken, 2);
}

TEST(ContentQueue, UntilSomebodyListensNobodyWaits) {
  ContentQueue queue(900, [] {});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(queue.make_room(300));
  EXPECT_FALSE(queue.make_room(1));
  queue.give_back(300);
  EXPECT_TRUE(queue.make_room(300));
}

TEST(ContentQueue, NoFileTakesMoreThanAThird) {
  ContentQueue queue(900, [] {});
  queue.let_wait();
  EXPECT_FALSE(queue.make_room(301));
  EXPECT_TRUE(queue.make_room(300));
}

TEST(ContentQueue, AReaderWaitsForRoom) {
  ContentQueue queue(900, [] {});
  queue.let_wait();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(queue.make_room(300));
  std::atomic<bool> has_room = false;
  std::thread reader([&] { has_room = queue.make_room(300); });
  queue.give_back(300);
  reader.join();
  EXPECT_TRUE(has_room);
}

TEST(ContentQueue, ClosingEndsTheWaitAndDropsWhatIsThere) {
  ContentQueue queue(900, [] {});
  queue.let_wait();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(queue.make_room(300));
  queue.take(sha256("a"), content_of(300));
  std::atomic<bool> has_room = true;
  std::thread reader([&] { has_room = queue.make_room(300); });
  queue.close();
  reader.join();
  EXPECT_FALSE(has_room);
  EXPECT_TRUE(queue.empty());
  queue.take(sha256("b"), content_of(300));  // it was being read
  EXPECT_TRUE(queue.empty());
  EXPECT_FALSE(queue.make_room(1));
}

TEST(ContentQueue, TheEndOfACaptureThatFailedIsToldApart) {
  ContentQueue queue(900, [] {});
  EXPECT_FALSE(queue.ended());
  queue.end(false);
  EXPECT_TRUE(queue.ended());
  EXPECT_TRUE(queue.ended_early());
}

}  // namespace
}  // namespace lockstep::transfer
