// The client's side of an attachment against a runner in simulated time, over a network that loses,
// doubles and holds up frames: every byte once and in order, one program, and no storm of openings.

#include "launcher/cli/attach/streams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>

#include "tests/unit/launcher/cli/fake_runner.h"

namespace lockstep::cli {
namespace {

using ::testing::HasSubstr;

constexpr Instant kBegin{1'000'000'000'000};

AttachOpen opening(AttachProgram program = {}) {
  AttachOpen open;
  open.job = JobId("j");
  open.rank = 0;
  open.order = std::move(program);
  return open;
}

struct Network {
  double lost = 0, doubled = 0;
  std::function<bool(Instant)> is_down = [](Instant) { return false; };
  std::function<bool(const AttachBody&)> loses = [](const AttachBody&) { return false; };
};

class World {
 public:
  explicit World(Network network, unsigned seed = 1, AttachOpen open = opening())
      : runner([this](AttachBody body) { post(std::move(body), false); }),
        client(std::move(open), kBegin),
        network_(std::move(network)),
        random_(seed) {}

  // Until `done` or so long; what comes is written at once, unless `reads` is false.
  bool run(Duration at_most, const std::function<bool()>& done) {
    const Instant end = now + at_most;
    while (!done()) {
      step();
      for (AttachBody& body : client.take_frames()) post(std::move(body), true);
      Instant next = client.next_deadline();
      if (!in_flight_.empty()) next = std::min(next, in_flight_.begin()->first);
      if (next > end) {
        now = end;
        return done();
      }
      EXPECT_TRUE(next > now || ++turns_at_once_ < 1'000) << "it turns without waiting";
      if (next > now) turns_at_once_ = 0;
      now = std::max(now, next);
      deliver();
    }
    return true;
  }
  void run_for(Duration time) {
    run(time, [] { return false; });
  }

  Instant now = kBegin;
  std::string to_feed, written;
  bool ends_input = false;
  bool reads = true;
  FakeRunner runner;
  AttachStreams client;

 private:
  bool by_chance(double probability) {
    return std::uniform_real_distribution<double>(0, 1)(random_) < probability;
  }
  void step() {
    client.tick(now);
    const std::size_t some = std::min(client.room(), to_feed.size());
    if (some > 0) {
      client.feed(to_feed.substr(0, some), now);
      to_feed.erase(0, some);
    }
    if (ends_input && to_feed.empty() && client.opened() && !input_ended_) {
      input_ended_ = true;
      client.end_input(now);
    }
    while (reads && !client.waiting(AttachStream::output).empty()) {
      const std::string_view some_of_it = client.waiting(AttachStream::output).substr(0, 50'000);
      written += some_of_it;
      client.written(AttachStream::output, some_of_it.size(), now);
    }
  }
  void post(AttachBody body, bool to_runner) {
    if (network_.is_down(now) || network_.loses(body) || by_chance(network_.lost)) return;
    const auto delay = milliseconds(1);
    in_flight_.emplace(now + delay, std::pair(to_runner, body));
    if (by_chance(network_.doubled))
      in_flight_.emplace(now + delay * 3, std::pair(to_runner, std::move(body)));
  }
  void deliver() {
    while (!in_flight_.empty() && in_flight_.begin()->first <= now) {
      const auto [to_runner, body] = in_flight_.begin()->second;
      in_flight_.erase(in_flight_.begin());
      if (to_runner)
        runner.on(body);
      else
        client.on_frame(body, now);
    }
  }

  Network network_;
  std::mt19937 random_;
  std::multimap<Instant, std::pair<bool, AttachBody>> in_flight_;
  bool input_ended_ = false;
  int turns_at_once_ = 0;
};

std::string noise(std::size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

TEST(AttachStreams, EveryByteComesOnceOverABadNetwork) {
  for (unsigned seed = 1; seed <= 24; ++seed) {
    const double lost = (seed % 4) * 0.08;
    World world({lost, (seed % 3) * 0.1}, seed);
    const std::string bytes = noise(700'000 + seed, seed);
    world.to_feed = bytes;
    world.ends_input = true;
    ASSERT_TRUE(world.run(minutes(10), [&] { return world.client.ended() != nullptr; }))
        << "seed " << seed;
    EXPECT_TRUE(world.runner.input == bytes) << "seed " << seed;
    EXPECT_TRUE(world.written == bytes) << "seed " << seed;
    EXPECT_EQ(world.client.ended()->code, 3);
    EXPECT_EQ(world.runner.starts, 1);
    EXPECT_LE(world.runner.most_ahead, kAttachWindow);
  }
}

TEST(AttachStreams, ItGoesOnAfterTheRelaysWereAway) {
  Network network;
  network.is_down = [](Instant now) {
    const Duration since = now - kBegin;
    return since > milliseconds(8) && since < seconds(30);
  };
  World world(network);
  const std::string bytes = noise(4'000'000, 7);
  world.to_feed = bytes;
  world.ends_input = true;
  ASSERT_TRUE(world.run(minutes(2), [&] { return world.client.ended() != nullptr; }));
  EXPECT_TRUE(world.written == bytes);
  EXPECT_LT(world.now - kBegin, seconds(40)) << "it asks at least every eight seconds";
}

TEST(AttachStreams, ALinkThatIsBackIsUsedAtOnce) {
  bool is_down = false;
  Network network;
  network.is_down = [&](Instant) { return is_down; };
  World world(network);
  ASSERT_TRUE(world.run(seconds(1), [&] { return world.client.opened().has_value(); }));
  is_down = true;
  world.to_feed = "ls\n";
  world.run_for(seconds(20));
  is_down = false;
  world.client.on_link_up(world.now);
  EXPECT_TRUE(world.run(milliseconds(10), [&] { return world.written == "ls\n"; }));
}

// Loses the first frame of each kind that is the last one for a while.
TEST(AttachStreams, ALastFrameThatIsLostIsFoundWithoutALaterOne) {
  int echoes = 0, acknowledgements = 0, ends_of_input = 0, ends = 0;
  Network network;
  network.loses = [&](const AttachBody& body) {
    const auto* data = std::get_if<AttachData>(&body);
    if (data != nullptr && data->stream == AttachStream::output) return ++echoes == 1;
    if (data != nullptr) return data->end && ++ends_of_input == 1;
    if (std::holds_alternative<AttachTaken>(body)) return ++acknowledgements == 1;
    return std::holds_alternative<AttachEnd>(body) && ++ends == 1;
  };
  World world(network);
  world.to_feed = "ls\n";
  EXPECT_TRUE(world.run(seconds(3), [&] { return world.written == "ls\n"; })) << "the echo";
  world.ends_input = true;
  EXPECT_TRUE(world.run(seconds(3), [&] { return world.runner.input_ended; }));
  EXPECT_TRUE(world.run(seconds(6), [&] { return world.client.ended() != nullptr; }));
  EXPECT_GE(ends, 2);
}

TEST(AttachStreams, AnIdleShellAsksEveryFewSecondsAndNoMore) {
  World world({});
  world.to_feed = "x";
  world.run_for(minutes(10));
  EXPECT_EQ(world.written, "x");
  EXPECT_GE(world.runner.heard, 120) << "it may be ended after a minute of silence";
  EXPECT_LE(world.runner.heard, 130);
  EXPECT_EQ(world.client.refused(), std::nullopt);
}

TEST(AttachStreams, AProgramThatDoesNotReadCausesNoStorm) {
  World world({});
  world.runner.reads = false;
  world.to_feed = noise(1'000'000, 3);
  world.run_for(minutes(10));
  EXPECT_EQ(world.to_feed.size(), 1'000'000 - kAttachWindow) << "it takes a window, and no more";
  EXPECT_LE(world.runner.openings, 250);
  world.runner.reads = true;
  EXPECT_TRUE(world.run(minutes(1), [&] { return world.runner.input.size() == 1'000'000; }));
}

TEST(AttachStreams, AReaderWhoWaitsHoldsUpTheProgramAndKeepsTheAttachment) {
  World world({});
  world.runner.is_cat = false;
  world.runner.output = noise(1'000'000, 4);
  world.reads = false;
  world.run_for(minutes(10));
  EXPECT_EQ(world.client.waiting(AttachStream::output).size(), kAttachWindow);
  EXPECT_GE(world.runner.heard, 120);
  EXPECT_LE(world.runner.openings, 3) << "each would have a window sent again";
  world.reads = true;
  EXPECT_TRUE(world.run(seconds(10), [&] { return world.written == world.runner.output; }));
}

TEST(AttachStreams, NothingIsStartedTwice) {
  AttachStreams client(opening(), kBegin);
  const auto first = client.take_frames();
  ASSERT_EQ(first.size(), 1u);
  EXPECT_FALSE(std::get<AttachOpen>(first[0]).again);
  client.on_frame(AttachOpened{{JobId("j"), 2, 9}, 0, 0, "n1", 0}, kBegin);
  client.on_link_up(kBegin + seconds(70));
  const auto again = client.take_frames();
  ASSERT_FALSE(again.empty());
  EXPECT_TRUE(std::get<AttachOpen>(again.back()).again);
  EXPECT_EQ(std::get<AttachOpen>(again.back()).attempt, (AttemptId{JobId("j"), 2, 9}));
  client.on_frame(AttachRefused{"nothing was heard for 1m00s", false}, kBegin + seconds(70));
  ASSERT_TRUE(client.refused());
  EXPECT_THAT(client.refused()->message, HasSubstr("nothing was heard"));
  EXPECT_EQ(client.next_deadline(), Instant::never());
}

TEST(AttachStreams, ARefusalForNowIsAskedAgainAndGivenUpWithItsReason) {
  AttachStreams client(opening(), kBegin);
  Instant now = kBegin;
  int openings = 0;
  while (!client.refused() && now < kBegin + minutes(1)) {
    for (const AttachBody& body : client.take_frames()) {
      ASSERT_TRUE(std::holds_alternative<AttachOpen>(body));
      ++openings;
      client.on_frame(AttachRefused{"node n1 is not connected", true}, now);
    }
    EXPECT_EQ(client.waits_for(), "node n1 is not connected");
    ASSERT_GT(client.next_deadline(), now);
    now = client.next_deadline();
    client.tick(now);
  }
  ASSERT_TRUE(client.refused());
  EXPECT_EQ(client.refused()->code, ErrorCode::unavailable);
  EXPECT_EQ(client.refused()->message, "node n1 is not connected");
  EXPECT_EQ(now, kBegin + seconds(20));
  EXPECT_GE(openings, 50);
  EXPECT_LE(openings, 100);
}

TEST(AttachStreams, NobodyAnswersThenItIsSaid) {
  World world({1.0, 0});
  EXPECT_TRUE(world.run(seconds(21), [&] { return world.client.refused().has_value(); }));
  EXPECT_THAT(world.client.refused()->message, HasSubstr("lockstep status"));
}

TEST(AttachStreams, TheLastSizeCountsAndSignalsWaitForTheOpening) {
  AttachProgram shell;
  shell.terminal = true;
  World world({}, 1, opening(shell));
  world.client.resize({40, 120});
  world.client.notify(10);
  world.run_for(seconds(1));
  EXPECT_EQ(world.runner.size, (TerminalSize{40, 120}));
  EXPECT_EQ(world.runner.signals, std::vector<int>{10});
  world.runner.size = {};  // a relay lost it
  world.client.on_link_up(world.now);
  world.run_for(seconds(1));
  EXPECT_EQ(world.runner.size, (TerminalSize{40, 120}));
  EXPECT_EQ(world.runner.signals, std::vector<int>{10}) << "a signal is not sent twice";
}

TEST(AttachStreams, WhatARunnerSendsBeyondItsWindowIsNotKept) {
  AttachStreams client(opening(), kBegin);
  client.on_frame(AttachOpened{}, kBegin);
  std::uint64_t offset = 0;
  for (int i = 0; i < 100; ++i) {
    client.on_frame(AttachData{AttachStream::output, offset, std::string(kMaxAttachData, 'x')},
                    kBegin);
    offset += kMaxAttachData;
  }
  EXPECT_LE(client.waiting(AttachStream::output).size(), 2 * kAttachWindow + kMaxAttachData);
  client.on_frame(AttachData{AttachStream::input, 0, "x"}, kBegin);
  client.on_frame(AttachTaken{AttachStream::input, UINT64_MAX}, kBegin);
  client.on_frame(AttachData{AttachStream::error, UINT64_MAX, "x"}, kBegin);
  client.on_frame(AttachOpened{{}, 0, 0, "", UINT64_MAX}, kBegin);
  EXPECT_EQ(client.waiting(AttachStream::error), "");
  EXPECT_EQ(client.room(), kAttachWindow);
}

TEST(AttachStreams, AClosedOneSaysNothingMore) {
  AttachStreams client(opening(), kBegin);
  client.on_frame(AttachOpened{}, kBegin);
  (void)client.take_frames();
  client.close();
  client.close();
  client.on_frame(AttachData{AttachStream::output, 0, "x"}, kBegin);
  client.on_link_up(kBegin);
  client.tick(kBegin + minutes(1));
  const auto frames = client.take_frames();
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<AttachClose>(frames[0]));
}

}  // namespace
}  // namespace lockstep::cli
