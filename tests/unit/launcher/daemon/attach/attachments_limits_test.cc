// What others and hostile nodes cannot do to an attachment, how many there may be, and their ends.

#include "launcher/daemon/attach/open_attachments.h"

#include "tests/unit/common/wire/fill.h"
#include "tests/unit/launcher/daemon/attach/attachments_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::HasSubstr;

const AttachId kId = attach_id(1);

// ---- others
// --------------------------------------------------------------------------------------

struct ForeignFrames : AttachmentsTest {
  ForeignFrames() { attach(kId, 0); }
  // The attachment is what it was: its frames go where they went.
  void expect_intact(const std::string& after) {
    EXPECT_TRUE(sent.empty() && told.empty() && audit.empty()) << after;
    ASSERT_EQ(table.size(), 1U) << after;
    EXPECT_EQ(table.size_of("alice"), 1U) << after;
    take();
    client("alice", kId, AttachNotify{2});
    node(n1, kId, AttachData{AttachStream::output, 0, "x", false});
    ASSERT_EQ(sent.size(), 2U) << after;
    EXPECT_EQ(sent[0].peer, "agent of n1") << after;
    EXPECT_EQ(sent[1].peer, "client of alice") << after;
    take();
  }
  // Every kind of frame, of this attachment; openings of its job too, as far as one can guess.
  void each_frame(const std::function<void(const AttachFrame&)>& visit) {
    test::for_each_attach_frame([&](AttachFrame frame) {
      frame.attachment = kId;
      visit(frame);
      auto* open = std::get_if<AttachOpen>(&frame.body);
      if (open == nullptr) return;
      for (const bool again : {false, true}) {
        *open = opening(open->order);
        open->again = again;
        open->attempt = again ? attempt(job) : AttemptId{};
        visit(frame);
      }
    });
  }
  static std::string named(const AttachFrame& frame) {
    return "kind " + std::to_string(frame.body.index());
  }
};

TEST_F(ForeignFrames, OfAnotherUserChangeNothingAndAreNotAnswered) {
  keys[key_of("attempt")] = AttemptCaller{attempt(job), "alice", "default"};
  for (const char* user : {"bob", "ada", "olga", "vic", "attempt"})
    each_frame([&](const AttachFrame& frame) {
      const std::uint64_t dropped = table.dropped();
      table.from_client(from(user), frame, launcher.now);
      EXPECT_EQ(table.dropped(), dropped + 1) << named(frame) << " of " << user;
      expect_intact(named(frame) + " of " + user);
    });
  EXPECT_THAT(warnings.at(0), HasSubstr("a frame of bob for an attachment of somebody else"));
}

TEST_F(ForeignFrames, OfTheOwnersOtherConnectionsChangeNothing) {
  each_frame([&](const AttachFrame& frame) {
    if (std::holds_alternative<AttachOpen>(frame.body)) return;
    table.from_client(from("alice", "another client"), frame, launcher.now);
    expect_intact(named(frame));
  });
}

TEST_F(ForeignFrames, OfAnotherNodeChangeNothing) {
  const FakeNode n3 = launcher.join("n3");
  for (const FakeNode& other : {n2, n3})
    each_frame([&](const AttachFrame& frame) {
      const std::uint64_t dropped = table.dropped();
      node(other, kId, frame.body);
      EXPECT_EQ(table.dropped(), dropped + 1) << named(frame);
      expect_intact(named(frame) + " of another node");
    });
  EXPECT_THAT(warnings.at(0), HasSubstr("a frame of node n2 for an attachment of somebody else"));
}

TEST_F(ForeignFrames, ThatOnlyTheOtherSideSendsChangeNothing) {
  const std::vector<AttachBody> of_nodes = {AttachOpened{attempt(job), 0, 0, "", 0},
                                            AttachData{AttachStream::output, 0, "x", false},
                                            AttachData{AttachStream::error, 0, "x", false},
                                            AttachTaken{AttachStream::input, 1},
                                            AttachEnd{0, "", 0, 0},
                                            AttachRefused{"no", false}};
  const std::vector<AttachBody> of_clients = {opening(),
                                              AttachData{AttachStream::input, 0, "x", false},
                                              AttachTaken{AttachStream::output, 1},
                                              AttachTaken{AttachStream::error, 1},
                                              AttachResize{{1, 1}},
                                              AttachNotify{9},
                                              AttachClose{}};
  for (const AttachBody& body : of_nodes) {
    client("alice", kId, body);
    expect_intact("kind " + std::to_string(body.index()) + " of the client");
  }
  for (const AttachBody& body : of_clients) {
    node(n1, kId, body);
    expect_intact("kind " + std::to_string(body.index()) + " of the node");
  }
}

TEST_F(ForeignFrames, OfAnUnknownIdAreDropped) {
  each_frame([&](AttachFrame frame) {
    frame.attachment = attach_id(77);
    if (!std::holds_alternative<AttachOpen>(frame.body))
      table.from_client(from("alice"), frame, launcher.now);
    table.from_node(n1.id, "agent of n1", frame, launcher.now);
    expect_intact(named(frame));
  });
}

// ---- ends
// ----------------------------------------------------------------------------------------

TEST_F(AttachmentsTest, AnEndIsPassedOnAsOftenAsItComesAndRecordedOnce) {
  attach(kId, 2);
  launcher.now = launcher.now + seconds(12);
  for (int i = 0; i < 3; ++i) node(n2, kId, AttachEnd{130, "", 5, 0});
  EXPECT_EQ(sent.size(), 3U);
  ASSERT_EQ(audit.size(), 1U);
  EXPECT_EQ(audit[0].who, "alice");
  EXPECT_EQ(audit[0].what, "shell job");
  EXPECT_EQ(audit[0].outcome, AuditOutcome::note);
  EXPECT_EQ(audit[0].detail, "rank 2 on n2 ended with code 130 after 12.0s");
  client("alice", kId, AttachClose{});
  EXPECT_EQ(sent.back().peer, "agent of n2") << "the runner may forget it";
  EXPECT_EQ(audit.size(), 1U);
  EXPECT_EQ(table.size(), 0U);
}

TEST_F(AttachmentsTest, ACloseEndsIt) {
  attach(kId);
  client("alice", kId, AttachClose{});
  EXPECT_EQ(sent.at(0).frame, (AttachFrame{kId, AttachClose{}}));
  EXPECT_THAT(audit.at(0).detail, HasSubstr("rank 0 on n1 closed by its user after"));
  EXPECT_EQ(table.size(), 0U);
  EXPECT_EQ(table.size_of("alice"), 0U);
}

TEST_F(AttachmentsTest, ANodesRefusalEndsItUnlessItIsForNow) {
  attach(kId);
  node(n1, kId, AttachRefused{"the node is preparing the job", true});
  EXPECT_EQ(table.size(), 1U);
  EXPECT_TRUE(audit.empty());
  node(n1, kId, AttachRefused{"64 attachments are open to this part", false});
  EXPECT_EQ(sent.size(), 2U);
  EXPECT_EQ(table.size(), 0U);
  EXPECT_THAT(audit.at(0).detail, HasSubstr("refused by its node: 64 attachments are open"));
}

TEST_F(AttachmentsTest, ASilentClientsIsEndedAndOneThatSaysItIsThereIsNot) {
  attach(kId);
  attach(attach_id(2));
  for (int i = 0; i < 12; ++i) {
    launcher.now = launcher.now + kAttachAliveEvery;
    client("alice", attach_id(2), AttachAlive{});
    node(n1, kId, AttachData{AttachStream::output, 0, "x", false});  // the node is no client
  }
  take();
  table.look_again(launcher.now);
  EXPECT_EQ(table.size(), 1U);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].frame, (AttachFrame{kId, AttachClose{}}));
  EXPECT_THAT(audit.at(0).detail, HasSubstr("nothing was heard from its client for 1m00s"));
}

// The whole way of every kind of lost right: both sides are told, nothing stays.
TEST_F(AttachmentsTest, ALostRightEndsIt) {
  const auto lose = [&](const std::string& what, const std::string& why) {
    table.look_again(launcher.now);
    EXPECT_EQ(table.size(), 0U) << what;
    ASSERT_EQ(told.size(), 1U) << what;
    EXPECT_EQ(told[0].node, n1.id) << what;
    EXPECT_EQ(told[0].frame, (AttachFrame{kId, AttachClose{}})) << what;
    ASSERT_EQ(sent.size(), 1U) << what;
    const auto& refused = std::get<AttachRefused>(sent[0].frame.body);
    EXPECT_FALSE(refused.for_now) << what;
    EXPECT_THAT(refused.message, HasSubstr(why)) << what;
    ASSERT_EQ(audit.size(), 1U) << what;
    EXPECT_THAT(audit[0].detail, HasSubstr("ended by the launcher: ")) << what;
  };
  const auto change_role = [&](bool withdraw) {
    const Grant grant{Role::submitter, "default"};
    launcher.send(PrincipalInput{launcher.next_reply(), ChangeRole{"alice", grant, withdraw}, {}});
    launcher.take<ReplyDone>();
    launcher.take<UserChanged>();
    launcher.take<ReadersChanged>();
    launcher.drop_notices();
  };
  attach(kId);
  table.look_again(launcher.now);
  ASSERT_EQ(table.size(), 1U) << "nothing has changed";
  const Caller caller = keys.at(key_of("alice"));
  keys.erase(key_of("alice"));
  lose("the key", "this key is not authorised any more");
  keys[key_of("alice")] = UserCaller{"bob"};
  EXPECT_EQ(table.size(), 0U);
  keys[key_of("alice")] = caller;
  attach(kId);
  keys[key_of("alice")] = UserCaller{"bob"};
  lose("the key, which is another user's now", "this key is not authorised any more");
  keys[key_of("alice")] = caller;
  attach(kId);
  change_role(true);
  lose("the role", "may not attach to the ranks of this job");
  change_role(false);
  attach(kId);
  launcher.finished(n1, attempt(job), node_exit({rank_exit(0), rank_exit(1)}));
  launcher.finished(n2, attempt(job), node_exit({rank_exit(2), rank_exit(3)}));
  launcher.send(DeleteInput{launcher.next_reply(), {job}, false, {}, UserCaller{"alice"}});
  launcher.take<ReplyDeleted>();
  launcher.take<ForgetJob>();
  launcher.drop_notices();
  lose("the job", "job gang was deleted");
}

TEST_F(AttachmentsTest, AnOpeningWithARightThatIsLostEndsIt) {
  attach(kId);
  keys[key_of("second key of alice")] = UserCaller{"alice"};
  table.from_client(from("second key of alice"), {kId, opening()}, launcher.now);
  keys.erase(key_of("alice"));
  table.look_again(launcher.now);
  EXPECT_EQ(table.size(), 1U) << "it goes on with the key that opened it last";
  keys.erase(key_of("second key of alice"));
  take();
  table.from_client(from("second key of alice"), {kId, opening()}, launcher.now);
  EXPECT_THAT(std::get<AttachRefused>(sent.at(0).frame.body).message, HasSubstr("not authorised"));
  table.look_again(launcher.now);
  EXPECT_EQ(table.size(), 0U);
}

// ---- limits
// --------------------------------------------------------------------------------------

TEST_F(AttachmentsTest, AUserHasTwoHundredAndFiftySixAtMost) {
  const int most = static_cast<int>(kMaxAttachmentsOfUser);
  for (int i = 0; i < most; ++i) client("alice", attach_id(i), opening());
  ASSERT_EQ(table.size_of("alice"), kMaxAttachmentsOfUser);
  const AttachRefused refused = refusal("alice", attach_id(most), opening());
  EXPECT_EQ(refused.message,
            "user 'alice' has 256 attachments open, the most for one user; end one of them");
  EXPECT_TRUE(refused.for_now);
  take();
  client("alice", attach_id(7), opening());
  EXPECT_EQ(told.size(), 1U) << "one that is open may be repaired";
  client("alice", attach_id(7), AttachClose{});
  take();
  client("alice", attach_id(most), opening());
  EXPECT_EQ(told.size(), 1U);
}

TEST_F(AttachmentsTest, ALauncherHasOneThousandAndTwentyFourAtMost) {
  launcher.finished(n1, attempt(job), node_exit({rank_exit(0), rank_exit(1)}));
  launcher.finished(n2, attempt(job), node_exit({rank_exit(2), rank_exit(3)}));
  FakeNode big = launcher.join("big", inventory(16, gibibytes(64)));
  const int each = static_cast<int>(kMaxAttachmentsOfUser);
  for (int user = 0; user < 5; ++user) {
    const std::string name = "user" + std::to_string(user);
    add(name, Role::submitter);
    JobSpec spec = job_spec("of-" + name);
    spec.resources.cpus = 1;
    spec.resources.memory = gibibytes(1);
    spec.resources.nodes = {"big"};
    AttachOpen open = opening();
    open.job = submit(spec, name);
    launcher.observe(big, attempt(open.job), PartState::running);
    for (int i = 0; i < (user < 4 ? each : 1); ++i) client(name, attach_id(user * each + i), open);
    if (user < 4) continue;
    const AttachRefused refused = refusal(name, attach_id(5 * each), open);
    EXPECT_THAT(refused.message, HasSubstr("1024 attachments are open"));
    EXPECT_TRUE(refused.for_now);
  }
  EXPECT_EQ(table.size(), kMaxAttachments);
}

// Each is two lines of the audit log, which has no other bound.
TEST_F(AttachmentsTest, WhoOpensAndClosesWithoutEndIsSlowedDown) {
  int refused = 0, recorded = 0;
  for (int i = 0; i < 2'000; ++i) {
    take();
    client("alice", attach_id(i), opening());
    recorded += static_cast<int>(audit.size());
    refused += static_cast<int>(sent.size());
    client("alice", attach_id(i), AttachClose{});
  }
  EXPECT_EQ(recorded, 512);
  EXPECT_EQ(refused, 2'000 - 512);
  EXPECT_TRUE(refusal("alice", kId, opening()).for_now);
  launcher.now = launcher.now + seconds(1);
  take();
  client("alice", kId, opening());
  EXPECT_EQ(told.size(), 1U);
}

// What waits for a node is in the launcher's memory.
TEST_F(AttachmentsTest, ANodeThatSaysNothingIsSentABoundedNumberOfBytes) {
  attach(kId);
  const AttachData typed{AttachStream::input, 0, std::string(kMaxAttachData, 'x'), false};
  const auto flood = [&] {
    take();
    for (int i = 0; i < 1'000; ++i) client("alice", kId, typed);
    for (int i = 0; i < 100'000; ++i) client("alice", kId, AttachResize{{1, 1}});
    std::size_t bytes = 0;
    for (const Sent& one : sent)
      if (const auto* data = std::get_if<AttachData>(&one.frame.body)) bytes += data->bytes.size();
    return bytes;
  };
  const std::size_t first = flood();
  EXPECT_GE(first, kAttachWindow) << "a whole window, and once again to repair it";
  EXPECT_LE(first, kMaxUnansweredAttachBytes);
  EXPECT_LE(sent.size(), 10'000U);
  EXPECT_EQ(flood(), 0U);
  node(n1, kId, AttachTaken{AttachStream::input, 1});
  EXPECT_EQ(flood(), first) << "it answers again";
  take();
  client("alice", kId, AttachClose{});
  EXPECT_EQ(sent.size(), 1U) << "a close is never dropped";
}

// They go over the connection of the node's heartbeats.
TEST_F(AttachmentsTest, OpeningsOfWhatIsOpenAreBoundedToo) {
  attach(kId);
  for (int i = 0; i < 5'000; ++i) client("alice", kId, opening());
  EXPECT_EQ(told.size(), 1'024U);
  EXPECT_TRUE(sent.empty());
  launcher.now = launcher.now + seconds(1);
  take();
  client("alice", kId, opening());
  EXPECT_EQ(told.size(), 1U);
}

}  // namespace
}  // namespace lockstep::launcher
