// Attachments through a real lockstepd: from a user's connection to a node's and back, over a kill
// of the launcher, and until the user's key is revoked.

#include <gmock/gmock.h>
#include <signal.h>

#include "common/wire/join_token.h"
#include "tests/unit/launcher/daemon/daemon_process.h"

namespace lockstep {
namespace {

using test::Peer;
using testing::HasSubstr;

const AttachId kId("0123456789abcdef");

class DaemonAttachTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(daemon_.start({"--allow-root"})) << daemon_.log();
    admin_.emplace(daemon_.endpoint(), ann_);
    alice_.emplace(daemon_.endpoint(), test::authorized_user(daemon_, "alice"));
    bob_.emplace(daemon_.endpoint(), test::authorized_user(daemon_, "bob"));
    node_.emplace(daemon_.endpoint());
    const auto token = admin_->ask_for<TokenReply>(CreateToken{minutes(5), 1});
    ASSERT_TRUE(token) << daemon_.log();
    const auto secret = wire::decode_join_token(token->token)->secret;
    const auto joined = node_->join(JoinRequest{secret, "n1", "test"});
    ASSERT_TRUE(joined && std::holds_alternative<JoinAccepted>(*joined)) << daemon_.log();
    id_ = std::get<JoinAccepted>(*joined).node;
    open_session({});
    run_job();
  }
  void open_session(std::vector<PartReport> parts) {
    Inventory inventory;
    inventory.hostname = "n1";
    inventory.cpus = {0, 1};
    inventory.memory = gibibytes(1);
    inventory.address = "127.0.0.1";
    inventory.address_is_loopback = true;
    inventory.host_id = "here";
    inventory.user = "root";
    node_->send(SessionOpen{id_, BootId("boot"), session_, "test", inventory, std::move(parts)});
    ASSERT_TRUE(node_->next<SessionAccepted>()) << daemon_.log();
  }
  void run_job() {
    JobSpec spec = test::small_job("train");
    spec.run_as = "";
    ASSERT_TRUE(alice_->ask_for<SubmitReply>(Submit{"s", spec})) << daemon_.log();
    ASSERT_TRUE(node_->next<Desired>([&](const Desired& desired) {
      for (const Assignment& assignment : desired.desired.assignments)
        if (assignment.attempt.job == JobId("train")) attempt_ = assignment.attempt;
      return attempt_.number != 0;
    })) << daemon_.log();
    node_->send(Observed{id_, session_, 1, {running()}, {}});
    ASSERT_TRUE(node_->next<ObservedAck>()) << daemon_.log();
  }
  PartReport running() const {
    PartReport report;
    report.attempt = attempt_;
    report.state = PartState::running;
    return report;
  }
  static void say(Peer& peer, AttachBody body) {
    peer.send_bulk(AttachFrame{kId, std::move(body)});
  }
  // The next frame that is no refusal for now: a slow machine may not have heard the node lately.
  static AttachBody hear(Peer& peer) {
    while (const auto frame = peer.next_bulk<AttachFrame>()) {
      EXPECT_EQ(frame->attachment, kId);
      const auto* refused = std::get_if<AttachRefused>(&frame->body);
      if (refused == nullptr || !refused->for_now) return frame->body;
    }
    ADD_FAILURE() << "nothing came";
    return AttachClose{};
  }
  static AttachOpen opening() {
    AttachOpen open;
    open.job = JobId("train");
    open.order = AttachProgram{};
    return open;
  }
  // A node that is not heard of for a while is waited for.
  void beat() { node_->send(Heartbeat{id_, session_, 0, 1, ++beats_}); }
  // Until the node has it: the launcher may not have heard its node yet.
  std::optional<AttachFrame> open(const AttachOpen& opening) {
    std::optional<AttachWanted> wanted;
    for (int tries = 0; tries < 100 && !wanted; ++tries) {
      beat();
      say(*alice_, opening);
      const auto has_come = [&] { return (wanted = node_->take<AttachWanted>()).has_value(); };
      (void)node_->wait(has_come, milliseconds(200));
    }
    return wanted ? std::optional(wanted->frame) : std::nullopt;
  }

  test::DaemonProcess daemon_;
  io::KeyPair ann_ = test::authorized_user(daemon_);
  std::optional<Peer> admin_, alice_, bob_, node_;
  NodeId id_;
  SessionId session_{SessionId(1)};
  AttemptId attempt_;
  std::uint64_t beats_ = 0;
};

TEST_F(DaemonAttachTest, FramesGoThereAndBackAndAreOfNobodyElse) {
  const auto wanted = open(opening());
  ASSERT_TRUE(wanted) << daemon_.log();
  AttachOpen want = opening();
  want.attempt = attempt_;
  want.node_rank = 0;
  EXPECT_EQ(*wanted, (AttachFrame{kId, want}));
  say(*node_, AttachOpened{attempt_, 0, 0, "", 0});
  EXPECT_EQ(hear(*alice_), AttachBody(AttachOpened{attempt_, 0, 0, "n1", 0}));
  // Bob's come first, and only hers arrive. His frames are handled in the order of their coming.
  say(*bob_, AttachNotify{9});
  say(*bob_, AttachClose{});
  bob_->send_bulk(AttachFrame{AttachId("of another person"), opening()});
  const auto no_id = bob_->next_bulk<BulkRefused>();
  ASSERT_TRUE(no_id) << daemon_.log();
  EXPECT_THAT(no_id->message, HasSubstr("an id has 16"));
  bob_->send_bulk(AttachFrame{AttachId("fedcba9876543210"), opening()});
  const auto answer = bob_->next_bulk<AttachFrame>();
  ASSERT_TRUE(answer && std::holds_alternative<AttachRefused>(answer->body)) << daemon_.log();
  EXPECT_THAT(std::get<AttachRefused>(answer->body).message, HasSubstr("belongs to user 'alice'"));
  const AttachBody typed = AttachData{AttachStream::input, 0, std::string("ls\0\r", 4), false};
  say(*alice_, typed);
  EXPECT_EQ(hear(*node_), typed);
  const AttachBody shown =
      AttachData{AttachStream::output, 0, std::string(kMaxAttachData, '\xfe'), false};
  say(*node_, shown);
  EXPECT_EQ(hear(*alice_), shown);
  say(*node_, AttachEnd{7, "", kMaxAttachData, 0});
  EXPECT_EQ(hear(*alice_), AttachBody(AttachEnd{7, "", kMaxAttachData, 0}));
  say(*alice_, AttachClose{});
  EXPECT_EQ(hear(*node_), AttachBody(AttachClose{}));

  QueryAudit query;
  query.verb = "shell job";
  const auto audit = admin_->ask_for<AuditReply>(query);
  ASSERT_TRUE(audit && audit->entries.size() == 3U) << daemon_.log();
  EXPECT_EQ(audit->entries[0].who, "alice");
  EXPECT_EQ(audit->entries[0].outcome, AuditOutcome::done);
  EXPECT_EQ(audit->entries[0].detail, "rank 0 on n1: a shell");
  EXPECT_EQ(audit->entries[1].who, "bob");
  EXPECT_EQ(audit->entries[1].outcome, AuditOutcome::refused);
  EXPECT_THAT(audit->entries[2].detail, HasSubstr("rank 0 on n1 ended with code 7"));
}

TEST_F(DaemonAttachTest, GoesOnAfterTheLauncherWasKilled) {
  ASSERT_TRUE(open(opening())) << daemon_.log();
  say(*node_, AttachOpened{attempt_, 0, 0, "", 0});
  EXPECT_TRUE(std::holds_alternative<AttachOpened>(hear(*alice_)));
  daemon_.signal(SIGKILL);
  ASSERT_TRUE(daemon_.start({"--allow-root"})) << daemon_.log();
  open_session({running()});
  AttachOpen again = opening();
  again.attempt = attempt_;
  again.again = true;
  again.have_output = 5;
  const auto wanted = open(again);
  ASSERT_TRUE(wanted) << daemon_.log();
  EXPECT_TRUE(std::get<AttachOpen>(wanted->body).again);
  EXPECT_EQ(std::get<AttachOpen>(wanted->body).have_output, 5U);
  const AttachBody shown = AttachData{AttachStream::output, 5, "later", false};
  say(*node_, shown);
  EXPECT_EQ(hear(*alice_), shown);
}

TEST_F(DaemonAttachTest, EndsWhenTheUsersKeyIsRevoked) {
  ASSERT_TRUE(open(opening())) << daemon_.log();
  ASSERT_TRUE(admin_->ask_for<Done>(ChangePrincipals{RevokeKey{alice_->key()}})) << daemon_.log();
  const auto wanted = node_->next<AttachWanted>([](const AttachWanted& told) {
    return std::holds_alternative<AttachClose>(told.frame.body);
  });
  EXPECT_TRUE(wanted) << daemon_.log();
}

}  // namespace
}  // namespace lockstep
