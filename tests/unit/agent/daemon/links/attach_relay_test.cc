// What the agent passes on, and to whom; what it drops; and when it needs the bulk connection.

#include "agent/daemon/links/attach_relay.h"

#include <gtest/gtest.h>

#include <utility>
#include <variant>
#include <vector>

namespace lockstep::agent {
namespace {

using Standing = AttachRelay::Standing;

AttachId attach_id(char c) { return AttachId(std::string(kAttachIdBytes, c)); }

class AttachRelayTest : public testing::Test {
 protected:
  AttachRelay::Callbacks callbacks() {
    AttachRelay::Callbacks callbacks;
    callbacks.standing = [this](const AttemptId& attempt) {
      const auto found = standing_.find(attempt);
      return found == standing_.end() ? Standing::absent : found->second;
    };
    callbacks.to_runner = [this](const AttemptId& attempt, const AttachFrame& frame) {
      to_runner_.emplace_back(attempt, frame);
    };
    callbacks.to_launcher = [this](const AttachFrame& frame) { to_launcher_.push_back(frame); };
    callbacks.is_link_up = [this] { return is_up_; };
    callbacks.hold_link = [this](bool wanted) { is_held_ = wanted; };
    return callbacks;
  }
  AttachFrame opening(char id, const AttemptId& attempt) {
    AttachOpen open;
    open.job = attempt.job;
    open.attempt = attempt;
    open.order = AttachProgram{};
    return {attach_id(id), open};
  }
  void tell(const AttachFrame& frame) { relay_.from_launcher(frame, now_); }
  const AttachRefused& refusal() {
    static const AttachRefused none;
    if (to_launcher_.empty()) return none;
    const auto* refused = std::get_if<AttachRefused>(&to_launcher_.back().body);
    return refused == nullptr ? none : *refused;
  }

  const AttemptId one_{JobId("one"), 1}, two_{JobId("two"), 1};
  std::map<AttemptId, Standing> standing_{{one_, Standing::running}, {two_, Standing::running}};
  std::vector<std::pair<AttemptId, AttachFrame>> to_runner_;
  std::vector<AttachFrame> to_launcher_;
  bool is_up_ = true, is_held_ = false;
  Instant now_{1'000'000'000};
  AttachRelay relay_{callbacks()};
};

TEST_F(AttachRelayTest, FramesGoToTheRunnerOfTheirOpening) {
  tell(opening('a', one_));
  tell(opening('b', two_));
  tell({attach_id('a'), AttachResize{}});
  tell({attach_id('b'), AttachAlive{}});
  tell({attach_id('c'), AttachAlive{}});  // nobody opened it
  ASSERT_EQ(to_runner_.size(), 4u);
  EXPECT_EQ(to_runner_[2], std::make_pair(one_, AttachFrame{attach_id('a'), AttachResize{}}));
  EXPECT_EQ(to_runner_[3], std::make_pair(two_, AttachFrame{attach_id('b'), AttachAlive{}}));
  EXPECT_TRUE(is_held_);
  EXPECT_TRUE(to_launcher_.empty());
}

TEST_F(AttachRelayTest, ARunnerSpeaksForItsOwnAttachmentsAlone) {
  tell(opening('a', one_));
  relay_.from_runner(two_, {attach_id('a'), AttachEnd{}});
  relay_.from_runner(one_, {attach_id('b'), AttachEnd{}});
  EXPECT_TRUE(to_launcher_.empty());
  relay_.from_runner(one_, {attach_id('a'), AttachEnd{}});
  ASSERT_EQ(to_launcher_.size(), 1u);
  EXPECT_EQ(relay_.size(), 1u) << "its client may ask again";
  tell(opening('a', two_));
  EXPECT_FALSE(refusal().message.empty());
  EXPECT_EQ(to_runner_.size(), 1u);
}

TEST_F(AttachRelayTest, WhatDoesNotRunHereIsRefused) {
  standing_[one_] = Standing::starting;
  tell(opening('a', one_));
  EXPECT_TRUE(refusal().for_now);
  standing_.erase(one_);
  tell(opening('a', one_));
  EXPECT_FALSE(refusal().for_now);
  EXPECT_EQ(refusal().message, "one.1 does not run on this node any more");
  EXPECT_TRUE(to_runner_.empty());
  EXPECT_FALSE(is_held_);
}

// Else the answer to the first opening of a quiet node would be lost.
TEST_F(AttachRelayTest, AnOpeningWaitsForTheConnectionThatAnswersIt) {
  is_up_ = false;
  tell(opening('a', one_));
  tell(opening('a', one_));
  EXPECT_TRUE(is_held_);
  EXPECT_TRUE(to_runner_.empty());
  is_up_ = true;
  relay_.on_link_up(now_);
  EXPECT_EQ(to_runner_.size(), 1u);
  EXPECT_TRUE(is_held_);
}

TEST_F(AttachRelayTest, AnOpeningThatIsClosedMeanwhileStartsNothing) {
  is_up_ = false;
  tell(opening('a', one_));
  tell({attach_id('a'), AttachClose{}});
  is_up_ = true;
  relay_.on_link_up(now_);
  EXPECT_TRUE(to_runner_.empty());
  EXPECT_FALSE(is_held_);
}

TEST_F(AttachRelayTest, AConnectionThatNeverComesIsNotWaitedForForEver) {
  is_up_ = false;
  tell(opening('a', one_));
  now_ = now_ + seconds(30);
  ASSERT_LE(relay_.next_deadline(), now_);
  relay_.tick(now_);
  EXPECT_FALSE(is_held_);
  EXPECT_EQ(relay_.next_deadline(), Instant::never());
  relay_.on_link_up(now_);
  EXPECT_TRUE(to_runner_.empty());
}

TEST_F(AttachRelayTest, ANewConnectionIsToldWhoIsAttached) {
  tell(opening('a', one_));
  tell(opening('b', two_));
  relay_.on_link_up(now_);
  ASSERT_EQ(to_launcher_.size(), 2u);
  EXPECT_EQ(to_launcher_[0], (AttachFrame{attach_id('a'), AttachAlive{}}));
  EXPECT_EQ(to_launcher_[1], (AttachFrame{attach_id('b'), AttachAlive{}}));
}

TEST_F(AttachRelayTest, AClosedOneIsForgottenAndTheConnectionLetGoAfterTheLast) {
  tell(opening('a', one_));
  tell(opening('b', one_));
  tell({attach_id('a'), AttachClose{}});
  EXPECT_EQ(to_runner_.size(), 3u) << "the runner is told";
  EXPECT_TRUE(is_held_);
  relay_.from_runner(one_, {attach_id('b'), AttachRefused{"no", false}});
  EXPECT_EQ(to_launcher_.size(), 1u);
  EXPECT_FALSE(is_held_);
  EXPECT_EQ(relay_.size(), 0u);
}

TEST_F(AttachRelayTest, ASilentOneIsForgotten) {
  tell(opening('a', one_));
  tell(opening('b', one_));
  for (int i = 0; i < 7; ++i) {
    now_ = now_ + seconds(10);
    tell({attach_id('b'), AttachAlive{}});
    relay_.tick(now_);
  }
  EXPECT_EQ(relay_.size(), 1u);
  EXPECT_TRUE(is_held_);
}

TEST_F(AttachRelayTest, WhatWasAttachedToARunnerThatEndedIsToldSo) {
  tell(opening('a', one_));
  tell(opening('b', two_));
  relay_.gone(one_);
  ASSERT_EQ(to_launcher_.size(), 1u);
  EXPECT_EQ(to_launcher_[0].attachment, attach_id('a'));
  EXPECT_EQ(refusal().message, "one.1 has ended on this node");
  EXPECT_EQ(relay_.size(), 1u);
}

TEST_F(AttachRelayTest, ItsTableIsBounded) {
  for (std::size_t i = 0; i <= kMaxAttachmentsOfNode; ++i) {
    AttachFrame frame = opening('a', one_);
    frame.attachment.value.replace(0, 4, std::string(reinterpret_cast<const char*>(&i), 4));
    tell(frame);
  }
  EXPECT_EQ(relay_.size(), kMaxAttachmentsOfNode);
  EXPECT_FALSE(refusal().for_now);
  EXPECT_FALSE(refusal().message.empty());
}

}  // namespace
}  // namespace lockstep::agent
