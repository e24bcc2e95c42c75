// Whose attachments go where, what they are told, and what ends them.

#include "launcher/daemon/attach/open_attachments.h"

#include "tests/unit/launcher/daemon/attach/attachments_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::HasSubstr;

const AttachId kId = attach_id(1);

TEST_F(AttachmentsTest, AnOpeningGoesToTheNodeOfItsRankWithTheAttemptThatRuns) {
  for (int rank = 0; rank < 4; ++rank) {
    take();
    const AttachId id = attach_id(rank);
    client("alice", id, of_rank(rank));
    EXPECT_TRUE(sent.empty()) << "its node answers";
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].node, rank < 2 ? n1.id : n2.id);
    AttachOpen want = of_rank(rank);
    want.attempt = attempt(job);
    want.node_rank = rank / 2;
    EXPECT_EQ(told[0].frame, (AttachFrame{id, want}));
    ASSERT_EQ(audit.size(), 1U);
    EXPECT_EQ(audit[0].who, "alice");
    EXPECT_EQ(audit[0].address, "10.0.0.9");
    EXPECT_EQ(audit[0].what, "shell job");
    EXPECT_EQ(audit[0].object, "job gang");
    EXPECT_EQ(audit[0].outcome, AuditOutcome::done);
    EXPECT_EQ(audit[0].detail,
              "rank " + std::to_string(rank) + " on " + (rank < 2 ? "n1" : "n2") + ": a shell");
  }
  EXPECT_EQ(table.size_of("alice"), 4U);
}

TEST_F(AttachmentsTest, WithoutARankItIsRankZeroOrTheNamedNode) {
  client("alice", kId, opening(AttachProgram{{"python", "-m", "pdb"}}));
  EXPECT_EQ(told.at(0).node, n1.id);
  EXPECT_EQ(audit.at(0).detail, "rank 0 on n1: python -m pdb");
  AttachOpen signal = opening(AttachSignal{10});
  signal.node_rank = 1;
  client("alice", attach_id(2), signal);
  EXPECT_EQ(told.at(1).node, n2.id);
  EXPECT_FALSE(std::get<AttachOpen>(told[1].frame.body).rank) << "all ranks of the node";
  EXPECT_EQ(audit.at(1).what, "signal job");
  EXPECT_EQ(audit.at(1).detail, "the ranks on n2: signal 10");
  ASSERT_EQ(signals.size(), 1U) << "for the job's events";
  EXPECT_EQ(signals[0].node, n2.id);
  EXPECT_EQ(signals[0].number, 10);
  EXPECT_EQ(signals[0].by, "alice");
  client("alice", attach_id(2), signal);
  EXPECT_EQ(signals.size(), 1U) << "the same opening again";
  client("alice", attach_id(3), opening(AttachStacks{true}));
  EXPECT_EQ(audit.at(2).what, "stacks job");
  EXPECT_EQ(audit.at(2).detail, "the ranks on n1: stacks, native ones too");
  client("alice", attach_id(4), opening(AttachStacks{false, true}));
  EXPECT_EQ(audit.at(3).detail, "the ranks on n1: stacks, and what the ranks do");
}

TEST_F(AttachmentsTest, FramesGoBothWaysOverTheConnectionsOfClientAndAgent) {
  client("alice", kId, of_rank(2));
  node(n2, kId, AttachOpened{attempt(job), 2, 1, "", 0});
  const AttachFrame opened{kId, AttachOpened{attempt(job), 2, 1, "n2", 0}};
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].peer, "client of alice");
  EXPECT_EQ(sent[0].frame, opened) << "the launcher writes the node's name";
  const std::vector<AttachBody> to_node = {
      AttachData{AttachStream::input, 0, std::string("l\0s\n", 4), false},
      AttachTaken{AttachStream::output, 3},
      AttachTaken{AttachStream::error, 4},
      AttachResize{{50, 200}},
      AttachNotify{2},
      AttachAlive{}};
  const std::vector<AttachBody> to_client = {AttachData{AttachStream::output, 5, "out", false},
                                             AttachData{AttachStream::error, 6, "\xff", true},
                                             AttachTaken{AttachStream::input, 4}, AttachAlive{},
                                             AttachEnd{3, "", 8, 7}};
  for (const AttachBody& body : to_node) {
    take();
    client("alice", kId, body);
    ASSERT_EQ(sent.size(), 1U) << "kind " << body.index();
    EXPECT_EQ(sent[0].peer, "agent of n2");
    EXPECT_EQ(sent[0].frame, (AttachFrame{kId, body}));
  }
  for (const AttachBody& body : to_client) {
    take();
    node(n2, kId, body);
    ASSERT_EQ(sent.size(), 1U) << "kind " << body.index();
    EXPECT_EQ(sent[0].peer, "client of alice");
    EXPECT_EQ(sent[0].frame, (AttachFrame{kId, body}));
  }
  EXPECT_TRUE(told.empty());
  EXPECT_EQ(table.dropped(), 0U);
}

TEST_F(AttachmentsTest, ANodeCannotPassForAnotherRankNodeOrAttempt) {
  client("alice", kId, of_rank(2));
  for (const int rank : {-5, 0, 2, 3, 900}) {
    take();
    node(n2, kId, AttachOpened{{JobId("other"), 7}, rank, 9, "\033]0;launcher", 11});
    const auto& opened = std::get<AttachOpened>(sent.at(0).frame.body);
    EXPECT_EQ(opened.attempt, attempt(job));
    EXPECT_EQ(opened.node, "n2");
    EXPECT_EQ(opened.node_rank, 1);
    EXPECT_EQ(opened.rank, rank <= 2 ? 2 : 3);
    EXPECT_EQ(opened.have_input, 11U);
  }
}

TEST_F(AttachmentsTest, WhatComesBeforeTheAgentsConnectionIsKnownIsDropped) {
  client("alice", kId, opening());
  take();
  client("alice", kId, AttachData{AttachStream::input, 0, "x", false});
  EXPECT_TRUE(sent.empty() && told.empty()) << "no relay keeps bytes; the client sends it again";
  EXPECT_EQ(table.dropped(), 1U);
  client("alice", kId, AttachClose{});
  ASSERT_EQ(told.size(), 1U) << "else the program would run on for a minute";
  EXPECT_EQ(told[0].node, n1.id);
  EXPECT_EQ(told[0].frame, (AttachFrame{kId, AttachClose{}}));
  EXPECT_EQ(table.size(), 0U);
}

// ---- who
// -----------------------------------------------------------------------------------------

TEST_F(AttachmentsTest, TheOwnerAloneMayOpenOne) {
  launcher.send(ShareInput{launcher.next_reply(), job, true, UserCaller{"alice"}});
  launcher.take<ReplyDone>();
  launcher.take<ReadersChanged>();
  launcher.drop_notices();
  keys[key_of("attempt")] = AttemptCaller{attempt(job), "alice", "default"};
  const std::map<std::string, const char*> words = {
      {"bob", "it belongs to user 'alice'"},
      {"vic", "may not attach to the ranks of this job"},
      {"olga", "may not attach to the ranks of this job"},
      {"ada", "it belongs to user 'alice'"},
      {"attempt", "the credential of attempt gang.1 may not attach"},
      {"nobody", "not authorised any more"}};
  for (const AttachOrder& order : std::initializer_list<AttachOrder>{
           AttachProgram{}, AttachMain{}, AttachSignal{9}, AttachStacks{}})
    for (const auto& [user, why] : words) {
      const AttachRefused refused = refusal(user, kId, opening(order));
      EXPECT_THAT(refused.message, HasSubstr(why)) << user;
      EXPECT_FALSE(refused.for_now) << user;
      ASSERT_EQ(audit.size(), 1U) << user;
      EXPECT_EQ(audit[0].outcome, AuditOutcome::refused);
      EXPECT_EQ(audit[0].what, verb_of(order));
      EXPECT_EQ(audit[0].object, "job gang");
      EXPECT_EQ(audit[0].detail, refused.message);
    }
  EXPECT_EQ(table.size(), 0U);
}

// ---- where
// ---------------------------------------------------------------------------------------

TEST_F(AttachmentsTest, WhatDoesNotRunIsRefusedWithWords) {
  const auto why = [&](AttachOpen open) { return refusal("alice", kId, std::move(open)).message; };
  EXPECT_EQ(why(of_rank(4)), "there is no rank 4: its ranks are 0 to 3");
  AttachOpen open = opening();
  open.node_rank = 2;
  EXPECT_EQ(why(open), "there is no node 2 in this job, which has 2");
  EXPECT_THAT(why(opening(AttachMain{})), HasSubstr("neither a terminal nor an open standard"));
  open = opening();
  open.job = JobId("other");
  EXPECT_EQ(why(open), "there is no job 'other'; `lockstep job list` shows all");
  open = opening();
  open.attempt = attempt(job, 2);
  EXPECT_EQ(why(open), "gang.2 is not an attempt of job gang any more");
  open.attempt = {JobId("other"), 1};
  EXPECT_EQ(why(open), "other.1 is not an attempt of job gang any more");
  launcher.finished(n1, attempt(job), node_exit({rank_exit(0), rank_exit(1)}));
  EXPECT_EQ(why(of_rank(1)), "the ranks on node n1 have ended");
  launcher.finished(n2, attempt(job), node_exit({rank_exit(2), rank_exit(3)}));
  EXPECT_THAT(why(of_rank(1)), HasSubstr("job gang has ended (Completed at 20"));
  EXPECT_EQ(table.size(), 0U);
}

TEST_F(AttachmentsTest, WhatDoesNotRunYetIsRefusedForNow) {
  const JobId next = submit(job_spec("next"));
  AttachOpen open = opening();
  open.job = next;
  AttachRefused refused = refusal("alice", kId, open);
  EXPECT_EQ(refused.message, "job next is Queued: none of its ranks runs now");
  EXPECT_TRUE(refused.for_now);
  EXPECT_TRUE(audit.empty()) << "a client that waits asks four times a second";
  launcher.finished(n1, attempt(job), node_exit({rank_exit(0), rank_exit(1)}));
  launcher.finished(n2, attempt(job), node_exit({rank_exit(2), rank_exit(3)}));
  const FakeNode& where = launcher.placed_on(attempt(next)).at(0) == n1.id ? n1 : n2;
  PartReport staging = report(attempt(next), PartState::staging);
  staging.progress = "fetching 1/2 MiB";
  launcher.observe(where.id == n1.id ? n1 : n2, staging);
  launcher.drop_notices();
  refused = refusal("alice", kId, open);
  EXPECT_THAT(refused.message, HasSubstr("do not run yet: it is staging, fetching 1/2 MiB"));
  EXPECT_TRUE(refused.for_now);
}

TEST_F(AttachmentsTest, ANodeThatIsNotHeardOfIsWaitedForAndALostOneIsNot) {
  attach(kId, 2);
  launcher.pass(seconds(4), {&n1});
  ASSERT_EQ(launcher.liveness(n2), Liveness::unknown);
  AttachRefused refused = refusal("alice", attach_id(2), of_rank(2));
  EXPECT_THAT(refused.message, HasSubstr("node n2 has not been heard of lately"));
  EXPECT_TRUE(refused.for_now);
  refused = refusal("alice", kId, of_rank(2));
  EXPECT_TRUE(refused.for_now) << "one that is open waits for its node too";
  EXPECT_EQ(table.size(), 1U);
  table.look_again(launcher.now);
  EXPECT_EQ(table.size(), 1U);
  while (launcher.liveness(n2) != Liveness::lost) launcher.pass(seconds(1), {&n1});
  take();
  table.look_again(launcher.now);
  EXPECT_EQ(table.size(), 0U);
  EXPECT_THAT(std::get<AttachRefused>(sent.at(0).frame.body).message,
              HasSubstr("the ranks on node n2 are lost"));
}

TEST_F(AttachmentsTest, RankZerosTerminalIsOpenedWhereTheJobHasOne) {
  launcher.finished(n1, attempt(job), node_exit({rank_exit(0), rank_exit(1)}));
  launcher.finished(n2, attempt(job), node_exit({rank_exit(2), rank_exit(3)}));
  JobSpec spec = job_spec("shell");
  spec.terminal = TerminalKind::pty;
  AttachOpen open = opening(AttachMain{});
  open.job = submit(spec);
  FakeNode& where = launcher.placed_on(attempt(open.job)).at(0) == n1.id ? n1 : n2;
  launcher.observe(where, attempt(open.job), PartState::running);
  open.rank = 1;
  EXPECT_EQ(refusal("alice", kId, open).message, "rank 1 has no terminal: only rank 0 has");
  open.rank.reset();
  take();
  client("alice", kId, open);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].node, where.id);
  EXPECT_EQ(audit.at(0).what, "attach job");
  EXPECT_THAT(audit.at(0).detail, HasSubstr("the streams of rank 0"));
}

TEST_F(AttachmentsTest, NothingIsOpenedThatTheAuditLogCannotTake) {
  stuck = "the audit log cannot be written: no space";
  const AttachRefused refused = refusal("alice", kId, opening());
  EXPECT_EQ(refused.message, stuck);
  EXPECT_TRUE(refused.for_now);
  EXPECT_EQ(table.size(), 0U);
}

// ---- repairs
// -------------------------------------------------------------------------------------

TEST_F(AttachmentsTest, ARepeatedOpeningTakesTheNewConnectionsAndGoesToTheNodeAgain) {
  attach(kId, 1);
  AttachOpen again = of_rank(1);
  again.again = true;
  again.attempt = attempt(job);
  again.have_output = 100;
  table.from_client(from("alice", "second client"), {kId, again}, launcher.now);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].node, n1.id);
  EXPECT_EQ(std::get<AttachOpen>(told[0].frame.body).have_output, 100U);
  EXPECT_TRUE(audit.empty()) << "it is open already";
  table.from_node(n1.id, "second agent", {kId, AttachAlive{}}, launcher.now);
  EXPECT_EQ(sent.at(0).peer, "second client");
  table.from_client(from("alice", "second client"), {kId, AttachNotify{2}}, launcher.now);
  EXPECT_EQ(sent.at(1).peer, "second agent");
  take();
  client("alice", kId, AttachNotify{9});
  EXPECT_TRUE(sent.empty()) << "the connection that was replaced";
  EXPECT_EQ(table.size(), 1U);
}

TEST_F(AttachmentsTest, AfterARestartTheOpeningMakesTheTableAgain) {
  attach(kId, 3);
  AttachOpen again = of_rank(3);
  again.again = true;
  again.attempt = attempt(job);
  Attachments restarted(ports());
  restarted.from_client(from("alice"), {kId, AttachData{AttachStream::input, 9, "x", false}},
                        launcher.now);
  restarted.from_node(n2.id, "agent of n2", {kId, AttachAlive{}}, launcher.now);
  EXPECT_TRUE(sent.empty() && told.empty());
  EXPECT_EQ(restarted.dropped(), 2U);
  restarted.from_client(from("alice"), {kId, again}, launcher.now);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].node, n2.id);
  EXPECT_TRUE(std::get<AttachOpen>(told[0].frame.body).again) << "nothing is started anew";
  ASSERT_EQ(audit.size(), 1U);
  EXPECT_EQ(audit[0].detail, "rank 3 on n2: a shell (it was open before)");
}

TEST_F(AttachmentsTest, WhatTheNodeHasOpenedIsNeverStartedAnew) {
  client("alice", kId, opening());
  client("alice", kId, opening());
  EXPECT_FALSE(std::get<AttachOpen>(told.at(1).frame.body).again) << "the first may be lost";
  node(n1, kId, AttachOpened{attempt(job), 0, 0, "", 0});
  client("alice", kId, opening());
  EXPECT_TRUE(std::get<AttachOpen>(told.at(2).frame.body).again)
      << "the audit log would not have it";
  EXPECT_EQ(audit.size(), 1U);
}

TEST_F(AttachmentsTest, AnOpenOneTakesNoOtherOrderJobOrAttempt) {
  attach(kId);
  AttachOpen other_attempt = opening();
  other_attempt.attempt = attempt(job, 2);
  AttachOpen other_job = opening();
  other_job.job = submit(job_spec("second"));
  for (const AttachOpen& open : {opening(AttachProgram{{"rm", "-r", "x"}}),
                                 opening(AttachSignal{9}), other_attempt, other_job}) {
    const AttachRefused refused = refusal("alice", kId, open);
    EXPECT_THAT(refused.message, HasSubstr("already open: a shell in gang.1"));
    EXPECT_FALSE(refused.for_now);
  }
  take();
  AttachOpen resized = opening(AttachProgram{{}, false, {50, 200}});
  client("alice", kId, resized);
  EXPECT_EQ(told.size(), 1U) << "its terminal has another size now";
}

TEST_F(AttachmentsTest, ItGoesOnWhenTheRanksHaveEndedUntilTheNodeHasSaidSo) {
  attach(kId);
  launcher.finished(n1, attempt(job), node_exit({rank_exit(0), rank_exit(1)}));
  launcher.finished(n2, attempt(job), node_exit({rank_exit(2), rank_exit(3)}));
  table.look_again(launcher.now);
  EXPECT_EQ(table.size(), 1U) << "its last output and its end are on their way";
  AttachOpen again = of_rank(0);
  again.again = true;
  again.attempt = attempt(job);
  client("alice", kId, again);
  EXPECT_EQ(told.size(), 1U);
  Attachments restarted(ports());
  restarted.from_client(from("alice"), {kId, again}, launcher.now);
  EXPECT_EQ(told.size(), 2U);
  take();
  node(n1, kId, AttachRefused{"gang.1 has ended on this node", false});
  EXPECT_EQ(std::get<AttachRefused>(sent.at(0).frame.body).message,
            "gang.1 has ended on this node");
  EXPECT_EQ(table.size(), 0U);
}

}  // namespace
}  // namespace lockstep::launcher
