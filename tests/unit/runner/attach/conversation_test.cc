// The runner's side of an attachment, against a client that repairs by openings alone, over a
// network that loses, doubles and reorders frames.

#include "runner/attach/conversation.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <variant>
#include <vector>

namespace lockstep::runner {
namespace {

std::string bytes_of(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::string text(count, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

std::vector<AttachBody> frames(Conversation& talk) {
  std::vector<AttachBody> all;
  while (auto body = talk.next()) all.push_back(*std::move(body));
  return all;
}

// A client as simple as one can be: it opens again and again, and sends what is not taken.
class Client {
 public:
  explicit Client(std::string input) : input_(std::move(input)) {}

  AttachOpen opening() const {
    AttachOpen open;
    open.have_output = output.size();
    open.have_error = error.size();
    return open;
  }
  std::vector<AttachBody> input() const {
    std::vector<AttachBody> all;
    if (!is_open_) return all;
    const std::uint64_t last = std::min<std::uint64_t>(input_.size(), taken_ + kAttachWindow);
    for (std::uint64_t at = have_; at <= last; at += kMaxAttachData) {
      const std::size_t count = std::min<std::uint64_t>(kMaxAttachData, last - at);
      all.emplace_back(AttachData{AttachStream::input, at, input_.substr(at, count),
                                  at + count == input_.size()});
    }
    return all;
  }
  // The answer, if one is due.
  std::optional<AttachBody> on(const AttachBody& body) {
    if (const auto* opened = std::get_if<AttachOpened>(&body)) {
      is_open_ = true;
      have_ = opened->have_input;
    }
    if (const auto* taken = std::get_if<AttachTaken>(&body))
      taken_ = std::max(taken_, taken->offset);
    if (const auto* ended = std::get_if<AttachEnd>(&body)) end = *ended;
    const auto* data = std::get_if<AttachData>(&body);
    if (data == nullptr) return std::nullopt;
    std::string& to = data->stream == AttachStream::output ? output : error;
    if (data->offset > to.size()) return std::nullopt;
    if (data->offset + data->bytes.size() > to.size())
      to.append(data->bytes.substr(to.size() - data->offset));
    return AttachTaken{data->stream, to.size()};
  }
  bool has_all() const { return end && output.size() == end->output && error.size() == end->error; }

  std::string output, error;
  std::optional<AttachEnd> end;

 private:
  const std::string input_;
  std::uint64_t have_ = 0, taken_ = 0;
  bool is_open_ = false;
};

class Network {
 public:
  explicit Network(std::uint32_t seed) : random_(seed) {}
  bool chance(int percent) { return random_() % 100 < static_cast<unsigned>(percent); }
  std::size_t below(std::size_t limit) { return random_() % limit; }
  void send(std::deque<AttachBody>& to, AttachBody body) {
    if (chance(15)) return;
    if (chance(10)) to.push_back(body);
    const std::size_t at = chance(10) && !to.empty() ? below(to.size()) : to.size();
    to.insert(to.begin() + static_cast<std::ptrdiff_t>(at), std::move(body));
  }
  std::optional<AttachBody> receive(std::deque<AttachBody>& from) {
    if (from.empty()) return std::nullopt;
    AttachBody body = std::move(from.front());
    from.pop_front();
    return body;
  }

 private:
  std::mt19937 random_;
};

// A program that reads its input in small pieces, and writes both streams meanwhile.
struct Program {
  std::string read, output, error;
  std::size_t written = 0, complained = 0;
  bool saw_end = false, has_ended = false;

  void run(Conversation& talk, Network& network) {
    const std::size_t count = std::min(talk.input().size(), network.below(100'000));
    read += talk.input().substr(0, count);
    if (count > 0) talk.wrote(count);
    saw_end = saw_end || talk.input_is_over();
    const auto write = [&](AttachStream stream, const std::string& all, std::size_t* done) {
      const std::size_t some =
          std::min({talk.room(stream), all.size() - *done, network.below(50'000)});
      talk.add(stream, std::string_view(all).substr(*done, some));
      *done += some;
      ASSERT_LE(some, kAttachWindow);
    };
    write(AttachStream::output, output, &written);
    write(AttachStream::error, error, &complained);
    if (has_ended || !saw_end || written < output.size() || complained < error.size()) return;
    has_ended = true;
    talk.end(7, "");
    talk.close(AttachStream::output);
    talk.close(AttachStream::error);
  }
};

void deliver(Conversation& talk, const AttachBody& body) {
  if (const auto* open = std::get_if<AttachOpen>(&body))
    talk.open(open->have_output, open->have_error);
  if (const auto* data = std::get_if<AttachData>(&body)) talk.take(*data);
  if (const auto* taken = std::get_if<AttachTaken>(&body)) talk.take(*taken);
}

class ConversationSeeds : public ::testing::TestWithParam<std::uint32_t> {};

INSTANTIATE_TEST_SUITE_P(Seeds, ConversationSeeds, ::testing::Range(1u, 41u));

TEST_P(ConversationSeeds, EveryByteArrivesOnceAndInOrder) {
  Network network(GetParam());
  const std::string input = bytes_of(1 + network.below(900'000), GetParam());
  Conversation talk({}, {true, true});
  Client client(input);
  Program program;
  program.output = bytes_of(network.below(900'000), GetParam() + 1000);
  program.error = bytes_of(network.below(90'000), GetParam() + 2000);
  std::deque<AttachBody> up, down;
  for (int round = 0; round < 20'000 && !client.has_all(); ++round) {
    if (round % 10 == 0) network.send(up, client.opening());
    if (round % 10 == 5)
      for (AttachBody& body : client.input()) network.send(up, std::move(body));
    for (int i = 0; i < 20; ++i)
      if (auto body = network.receive(up)) deliver(talk, *body);
    program.run(talk, network);
    for (AttachBody& body : frames(talk)) network.send(down, std::move(body));
    for (int i = 0; i < 20; ++i)
      if (auto body = network.receive(down))
        if (auto answer = client.on(*body)) network.send(up, *std::move(answer));
    ASSERT_LE(talk.input().size(), kAttachWindow);
  }
  ASSERT_TRUE(client.has_all());
  EXPECT_TRUE(program.read == input);
  EXPECT_TRUE(client.output == program.output);
  EXPECT_TRUE(client.error == program.error);
  EXPECT_EQ(client.end->code, 7);
}

TEST(ConversationTest, NoMoreIsSentThanTheWindow) {
  Conversation talk({}, {});
  talk.open(0, 0);
  talk.add(AttachStream::output, std::string(talk.room(AttachStream::output), 'x'));
  std::size_t sent = 0;
  for (const AttachBody& body : frames(talk))
    if (const auto* data = std::get_if<AttachData>(&body)) {
      EXPECT_LE(data->bytes.size(), kMaxAttachData);
      sent += data->bytes.size();
    }
  EXPECT_EQ(sent, kAttachWindow);
  EXPECT_EQ(talk.room(AttachStream::output), 0u);
  talk.take(AttachTaken{AttachStream::output, 1000});
  EXPECT_EQ(talk.room(AttachStream::output), 1000u);
  talk.take(AttachTaken{AttachStream::output, 999});                // late
  talk.take(AttachTaken{AttachStream::output, kAttachWindow + 1});  // never sent
  talk.take(AttachTaken{AttachStream::input, 5});
  EXPECT_EQ(talk.room(AttachStream::output), 1000u);
}

TEST(ConversationTest, AClientThatSendsBeyondTheWindowIsNotKept) {
  Conversation talk({}, {true, false});
  talk.open(0, 0);
  std::uint64_t at = 0;
  for (int i = 0; i < 20; ++i, at += kMaxAttachData)
    talk.take(AttachData{AttachStream::input, at, std::string(kMaxAttachData, 'x'), i == 19});
  EXPECT_EQ(talk.input().size(), kAttachWindow);
  EXPECT_FALSE(talk.input_is_over());
  talk.wrote(kAttachWindow);
  EXPECT_FALSE(talk.input_is_over()) << "its end was not among what was kept";
}

TEST(ConversationTest, WithoutInputAndErrorsNothingOfThemCounts) {
  Conversation talk({}, {});
  talk.open(0, 0);
  talk.take(AttachData{AttachStream::input, 0, "x", true});
  talk.take(AttachData{AttachStream::output, 0, "x", true});
  EXPECT_TRUE(talk.input().empty());
  EXPECT_EQ(talk.room(AttachStream::error), 0u);
  talk.add(AttachStream::error, "x");
  talk.add(AttachStream::output, "out");
  talk.close(AttachStream::output);
  talk.end(3, "why");
  const auto sent = frames(talk);
  ASSERT_EQ(sent.size(), 4u);
  EXPECT_EQ(std::get<AttachData>(sent[2]), (AttachData{AttachStream::output, 0, "out", true}));
  EXPECT_EQ(std::get<AttachEnd>(sent[3]), (AttachEnd{3, "why", 3, 0}));
}

TEST(ConversationTest, TheEndIsToldAgainWithEachOpening) {
  Conversation talk({}, {});
  talk.open(0, 0);
  talk.add(AttachStream::output, "all");
  talk.end(0, "");
  EXPECT_EQ(frames(talk).size(), 3u) << "more output may come";
  talk.close(AttachStream::output);
  EXPECT_EQ(frames(talk).size(), 2u);
  talk.end(9, "another");
  for (const std::uint64_t have : {0, 3}) {
    talk.open(have, 0);
    const auto sent = frames(talk);
    ASSERT_EQ(sent.size(), 4u);
    EXPECT_EQ(std::get<AttachData>(sent[2]).bytes, have == 0 ? "all" : "");
    EXPECT_EQ(std::get<AttachEnd>(sent[3]).code, 0);
  }
}

TEST(ConversationTest, WhatWasGivenUpIsSaidToWhoLacksIt) {
  Conversation talk({}, {});
  talk.open(0, 0);
  talk.add(AttachStream::output, std::string(kAttachWindow, 'x'));
  frames(talk);
  talk.lose(AttachStream::output, 1000);
  EXPECT_EQ(talk.room(AttachStream::output), 1000u);
  talk.open(1000, 0);
  EXPECT_FALSE(talk.has_ended()) << "it had them";
  talk.open(999, 0);
  EXPECT_TRUE(talk.has_ended());
  const auto sent = frames(talk);
  EXPECT_EQ(std::get<AttachEnd>(sent.back()).code, kAttachFailed);
}

}  // namespace
}  // namespace lockstep::runner
