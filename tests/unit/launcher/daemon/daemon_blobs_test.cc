// Blobs of a real lockstepd are given by permission: two users' keys and nodes' keys speak the real
// protocol, and knowing a digest opens nothing.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <atomic>
#include <thread>

#include "common/domain/job/pipeline.h"
#include "common/snapshot/content/compress.h"
#include "common/snapshot/manifest.h"
#include "tests/unit/launcher/daemon/daemon_process.h"
#include "tests/unit/support/noise.h"

namespace lockstep {
namespace {

using test::DaemonProcess;
using test::Peer;
using test::small_job;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A folder with one file, and both as blobs.
struct Tree {
  explicit Tree(const std::string& content, const std::string& name = "file") : file(content) {
    snapshot::Directory directory;
    directory.entries.push_back(
        {name, snapshot::EntryKind::file, 0644, file.size(), sha256(file), ""});
    folder = snapshot::encode(directory);
  }
  Digest root() const { return sha256(folder); }
  std::vector<Digest> all() const { return {root(), sha256(file)}; }
  GetBlobs get(const std::string& job = "") const {
    return {all(), 0, 0, false, root(), JobId(job)};
  }
  PutBlobs put() const {
    PutBlobs request;
    for (const std::string& blob : {folder, file})
      for (std::size_t at = 0; at < blob.size(); at += kMaxPieceBytes)
        request.pieces.push_back(
            {sha256(blob), blob.size(), at, false, blob.substr(at, kMaxPieceBytes)});
    return request;
  }
  std::string file, folder;
};

class DaemonBlobsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(daemon_.start({"--allow-root"})) << daemon_.log();
    admin_.emplace(daemon_.endpoint(), ann_);
    alice_.emplace(daemon_.endpoint(), test::authorized_user(daemon_, "alice"));
    bob_.emplace(daemon_.endpoint(), test::authorized_user(daemon_, "bob"));
    EXPECT_TRUE(admin_->ask_for<StatusReply>(GetStatus{}));
  }
  Refused refused(Peer& peer, JobSpec spec) {
    spec.run_as = "";
    const auto reply = peer.ask_for<Refused>(Submit{spec.name, spec});
    EXPECT_TRUE(reply) << daemon_.log();
    return reply.value_or(Refused{});
  }
  static void upload(Peer& peer, const Tree& tree) {
    peer.send_bulk(tree.put());
    EXPECT_TRUE(peer.next_bulk<PutBlobsReply>());
  }
  static std::vector<Digest> missing(Peer& peer, std::vector<Digest> digests) {
    peer.send_bulk(MissingBlobs{std::move(digests)});
    const auto reply = peer.next_bulk<MissingBlobsReply>();
    EXPECT_TRUE(reply);
    return reply ? reply->missing : std::vector<Digest>();
  }
  SubmitReply submit(Peer& peer, const std::string& name, const Tree& tree) {
    JobSpec spec = small_job(name);
    spec.run_as = "";
    spec.snapshot = tree.root();
    const auto reply = peer.ask_for<SubmitReply>(Submit{name, spec});
    EXPECT_TRUE(reply) << daemon_.log();
    return reply.value_or(SubmitReply{});
  }
  // "": it was given.
  static std::string why_refused(Peer& peer, const BulkMessage& request) {
    peer.send_bulk(request);
    std::string why = "no answer";
    peer.wait([&] {
      if (const auto refused = peer.take_bulk<BulkRefused>()) why = refused->message;
      const auto data = peer.take_bulk<BlobData>();
      if (data && data->last) why = "";
      return why != "no answer";
    });
    return why;
  }

  // A node with an open session.
  struct Node {
    explicit Node(DaemonBlobsTest& test, const std::string& name) : peer(test.daemon_.endpoint()) {
      const auto token = test.admin_->ask_for<TokenReply>(CreateToken{minutes(5), 1});
      EXPECT_TRUE(token) << test.daemon_.log();
      const auto secret = wire::decode_join_token(token->token)->secret;
      const auto reply = peer.join(JoinRequest{secret, name, "test"});
      id = std::get<JoinAccepted>(*reply).node;
      Inventory inventory;
      inventory.hostname = name;
      inventory.cpus = {0, 1};
      inventory.memory = gibibytes(1);
      inventory.address = "127.0.0.1";
      inventory.address_is_loopback = true;
      inventory.host_id = "here";
      inventory.user = "root";
      peer.send(SessionOpen{id, BootId("boot"), session, "test", inventory, {}});
      EXPECT_TRUE(peer.next<SessionAccepted>()) << test.daemon_.log();
    }
    AttemptId assigned(const std::string& job) {
      AttemptId found;
      EXPECT_TRUE(peer.next<Desired>([&](const Desired& desired) {
        for (const auto& assignment : desired.desired.assignments) {
          if (assignment.attempt.job.value != job) continue;
          found = assignment.attempt;
          return true;
        }
        return false;
      }));
      return found;
    }
    void report(const PartReport& part) {
      peer.send(Observed{id, session, ++sequence, {part}, {}});
      EXPECT_TRUE(peer.next<ObservedAck>());
    }
    Peer peer;
    NodeId id;
    const SessionId session{77};
    std::uint64_t sequence = 0;
  };

  DaemonProcess daemon_;
  const io::KeyPair ann_ = test::authorized_user(daemon_);  // an admin from its start
  std::optional<Peer> admin_, alice_, bob_;
  const Tree secret_{"alice's own code"};
};

TEST_F(DaemonBlobsTest, AForeignDigestReadsAndTellsNothing) {
  upload(*alice_, secret_);
  ASSERT_FALSE(submit(*alice_, "hers", secret_).snapshot_missing);
  EXPECT_EQ(why_refused(*alice_, secret_.get("hers")), "");

  // Of her job, of none, of his own: always the same words, as for what is not there at all.
  const Tree nothing("nobody has this"), his("bob's code");
  upload(*bob_, his);
  ASSERT_FALSE(submit(*bob_, "his", his).snapshot_missing);
  const std::string why = why_refused(*bob_, nothing.get("hers"));
  EXPECT_THAT(why, HasSubstr("may read"));
  EXPECT_EQ(why_refused(*bob_, secret_.get("hers")), why);
  EXPECT_EQ(why_refused(*bob_, secret_.get()), why);
  EXPECT_EQ(why_refused(*bob_, secret_.get("his")), why);
  GetBlobs below = his.get("his");
  below.digests = nothing.all();
  const std::string not_below = why_refused(*bob_, below);
  EXPECT_THAT(not_below, HasSubstr("not part of the named tree"));
  below.digests = secret_.all();
  EXPECT_EQ(why_refused(*bob_, below), not_below);

  EXPECT_EQ(missing(*bob_, secret_.all()), secret_.all()) << "that they are here is not told";
  EXPECT_THAT(missing(*alice_, secret_.all()), IsEmpty());
  EXPECT_EQ(why_refused(*admin_, secret_.get("hers")), "") << "an admin may";
}

TEST_F(DaemonBlobsTest, AProgramThatNamesNoTreeIsToldThatItIsOld) {
  EXPECT_THAT(why_refused(*alice_, GetBlobs{{sha256("x")}, 0, 0}),
              HasSubstr("older than the launcher"));
}

TEST_F(DaemonBlobsTest, AForeignSnapshotIsNotRunBeforeItWasSent) {
  upload(*alice_, secret_);
  ASSERT_FALSE(submit(*alice_, "hers", secret_).snapshot_missing);
  EXPECT_TRUE(submit(*bob_, "stolen", secret_).snapshot_missing);
  // A folder of his own that names her file is no better.
  Tree lure("");
  snapshot::Directory directory;
  directory.entries.push_back(
      {"loot", snapshot::EntryKind::file, 0644, secret_.file.size(), sha256(secret_.file), ""});
  lure.folder = snapshot::encode(directory);
  upload(*bob_, lure);
  EXPECT_TRUE(submit(*bob_, "lure", lure).snapshot_missing);
  EXPECT_EQ(missing(*bob_, {lure.root(), sha256(secret_.file)}), std::vector{sha256(secret_.file)});
  // Whoever has the bytes may use them: they are sent, and kept once.
  upload(*bob_, secret_);
  EXPECT_FALSE(submit(*bob_, "his", secret_).snapshot_missing);
}

TEST_F(DaemonBlobsTest, AForeignTreeIsNoInputBeforeItWasSent) {
  upload(*alice_, secret_);
  ASSERT_FALSE(submit(*alice_, "hers", secret_).snapshot_missing);
  JobSpec spec = small_job("stolen");
  spec.run_as = "";
  DataInput input;
  input.name = "d";
  input.tree = secret_.root();
  spec.data = {input};
  const auto reply = bob_->ask_for<SubmitReply>(Submit{"stolen", spec});
  ASSERT_TRUE(reply) << daemon_.log();
  EXPECT_TRUE(reply->snapshot_missing);
  // Nor by way of her job's outputs, or without any tree.
  spec.data[0].tree.reset();
  for (const char* source : {"azureml://jobs/hers/outputs/model", "azureml://jobs/none/outputs/x",
                             "./data", "azureml:../x:1"}) {
    spec.data[0].source = source;
    const auto refused = bob_->ask_for<Refused>(Submit{"stolen", spec});
    ASSERT_TRUE(refused) << source;
    EXPECT_THAT(refused->message, HasSubstr("inputs.d: ")) << source;
  }
}

TEST_F(DaemonBlobsTest, SendingSomethingElseUnderAForeignDigestProvesNothing) {
  const Tree large(test::noise(5 * kMaxPieceBytes / 2, 1));
  for (const Tree& tree : {secret_, large}) {
    upload(*alice_, tree);
    PutBlobs forged;
    const std::string wrong(tree.file.size(), 'x');
    for (std::size_t at = 0; at < wrong.size(); at += kMaxPieceBytes)
      forged.pieces.push_back(
          {sha256(tree.file), wrong.size(), at, false, wrong.substr(at, kMaxPieceBytes)});
    EXPECT_THAT(why_refused(*bob_, forged), HasSubstr("not match the digest"));
    EXPECT_EQ(missing(*bob_, tree.all()), tree.all());
    upload(*bob_, tree);
    EXPECT_THAT(missing(*bob_, tree.all()), IsEmpty());
  }
}

TEST_F(DaemonBlobsTest, OnesOwnTreeIsNotSentAgainAlsoAfterARestart) {
  upload(*alice_, secret_);
  ASSERT_FALSE(submit(*alice_, "first", secret_).snapshot_missing);
  EXPECT_FALSE(submit(*alice_, "second", secret_).snapshot_missing);
  const Tree unused("sent, and of no job");
  upload(*alice_, unused);
  daemon_.signal(SIGKILL);
  ASSERT_TRUE(daemon_.start({"--allow-root"})) << daemon_.log();
  EXPECT_FALSE(submit(*alice_, "third", secret_).snapshot_missing);
  EXPECT_THAT(missing(*alice_, secret_.all()), IsEmpty());
  EXPECT_THAT(missing(*alice_, unused.all()), IsEmpty());
  EXPECT_FALSE(submit(*alice_, "fourth", unused).snapshot_missing);
  // A home of before it was noted who sent what: what her jobs have is hers.
  daemon_.signal(SIGKILL);
  ASSERT_EQ(::unlink(daemon_.home().blobs_sent().c_str()), 0);
  ASSERT_TRUE(daemon_.start({"--allow-root"})) << daemon_.log();
  EXPECT_THAT(missing(*alice_, secret_.all()), IsEmpty());
  EXPECT_EQ(missing(*bob_, secret_.all()), secret_.all());
}

TEST_F(DaemonBlobsTest, ANodeGetsWhatIsAssignedToItAndOnlyWhileItIs) {
  Node node(*this, "n1"), other(*this, "n2");
  ASSERT_TRUE(admin_->ask_for<Done>(DrainNode{"n2", true, "for the test"}));
  upload(*alice_, secret_);
  ASSERT_FALSE(submit(*alice_, "hers", secret_).snapshot_missing);
  const AttemptId attempt = node.assigned("hers");
  EXPECT_EQ(why_refused(node.peer, secret_.get()), "");
  EXPECT_THAT(why_refused(other.peer, secret_.get()), HasSubstr("assigned to this node"));
  EXPECT_THAT(why_refused(other.peer, secret_.get("hers")), HasSubstr("assigned to this node"));
  EXPECT_EQ(missing(other.peer, secret_.all()), secret_.all());
  EXPECT_THAT(missing(node.peer, secret_.all()), IsEmpty());

  // Nor is it told who else has the tree, whatever it calls it.
  EXPECT_THAT(why_refused(other.peer, FindPeers{secret_.root(), 7000}),
              HasSubstr("assigned to this node"));
  EXPECT_THAT(why_refused(other.peer, FindPeers{secret_.root(), 7000, secret_.root()}),
              HasSubstr("assigned to this node"));
  node.peer.send_bulk(FindPeers{secret_.root(), 7000});
  EXPECT_TRUE(node.peer.next_bulk<FindPeersReply>());

  PartReport report;
  report.attempt = attempt;
  report.state = PartState::finished;
  report.exit.emplace();
  report.exit->ranks.emplace_back();
  node.report(report);
  ASSERT_TRUE(alice_->wait([&] {
    const auto job = alice_->ask_for<JobReply>(ShowJob{JobId("hers")});
    return job && is_final(job->job.status);
  })) << daemon_.log();
  EXPECT_THAT(why_refused(node.peer, secret_.get()), HasSubstr("assigned to this node"));
}

TEST_F(DaemonBlobsTest, ANodesOutputsAreOfWhatItSent) {
  Node node(*this, "n1");
  const Tree foreign("another job's code");
  upload(*bob_, foreign);
  upload(*alice_, secret_);
  ASSERT_FALSE(submit(*alice_, "hers", secret_).snapshot_missing);
  const AttemptId attempt = node.assigned("hers");
  const Tree made("what the ranks left");
  upload(node.peer, made);
  // It is in no report yet, and the launcher ends.
  daemon_.signal(SIGKILL);
  ASSERT_TRUE(daemon_.start({"--allow-root"})) << daemon_.log();
  node.peer.send(Heartbeat{node.id, node.session, 1, 0});
  ASSERT_TRUE(node.peer.next<SessionLost>());

  PartReport report;
  report.attempt = attempt;
  report.state = PartState::finished;
  report.exit.emplace();
  report.exit->ranks.emplace_back();
  const auto output = [&](const std::string& name, const Digest& tree) {
    CollectedOutput one;
    one.kind = OutputKind::named;
    one.name = name;
    one.tree = tree;
    report.outputs.push_back(std::move(one));
  };
  output("foreign", foreign.root());
  output("made", made.root());
  output("source", secret_.root());
  Inventory inventory;
  inventory.hostname = "n1";
  inventory.user = "root";
  node.peer.send(SessionOpen{node.id, BootId("boot"), node.session, "test", inventory, {report}});
  ASSERT_TRUE(node.peer.next<SessionAccepted>()) << daemon_.log();
  const auto job = alice_->ask_for<JobReply>(ShowJob{JobId("hers")});
  ASSERT_TRUE(job);
  const auto& outputs = job->job.attempts.back().parts.at(0).outputs;
  ASSERT_EQ(outputs.size(), 3u);
  EXPECT_FALSE(outputs[0].tree) << "it would be alice's to read";
  EXPECT_THAT(outputs[0].problems, ElementsAre(HasSubstr("differ from what its node sent")));
  EXPECT_EQ(outputs[1].tree, made.root());
  EXPECT_EQ(outputs[2].tree, secret_.root());
  EXPECT_EQ(why_refused(*alice_, made.get("hers")), "");
  EXPECT_THAT(why_refused(*alice_, foreign.get("hers")), HasSubstr("may read"));
  EXPECT_THAT(why_refused(*bob_, made.get("hers")), HasSubstr("may read"));
}

TEST_F(DaemonBlobsTest, ARevokedKeySendsAndGetsNoMore) {
  upload(*alice_, secret_);
  ASSERT_FALSE(submit(*alice_, "hers", secret_).snapshot_missing);
  ASSERT_TRUE(admin_->ask_for<Done>(ChangePrincipals{RevokeKey{alice_->key()}})) << daemon_.log();
  EXPECT_THAT(why_refused(*alice_, secret_.put()), HasSubstr("not authorised any more"));
  EXPECT_THAT(why_refused(*alice_, secret_.get("hers")), HasSubstr("not authorised any more"));
}

// ---- one who sends much -------------------------------------------------------------------------

// Folders of 200,000 names of one file, and of one that is not there, behind all others.
class HugeTrees {
 public:
  static constexpr int kFolders = 20, kSubmits = 600;
  explicit HugeTrees(Peer& peer) {
    const std::string file = "bob's";
    put(peer, file);
    for (int i = 0; i < kFolders; ++i) {
      snapshot::Directory folder;
      for (int n = 0; n < 200'000; ++n)
        folder.entries.push_back({fmt::format("f{:06}", n), snapshot::EntryKind::file, 0644,
                                  file.size(), sha256(file), ""});
      folder.entries.push_back(
          {"g", snapshot::EntryKind::file, 0644, 1, sha256(fmt::format("absent {}", i)), ""});
      folders_.push_back(snapshot::encode(folder));
      put(peer, folders_.back());
    }
    for (int i = 0; i < kSubmits; ++i) {
      const std::string& folder = folders_[static_cast<std::size_t>(i % kFolders)];
      snapshot::Directory around;
      around.entries.push_back({fmt::format("d{}", i), snapshot::EntryKind::directory, 0755,
                                folder.size(), sha256(folder), ""});
      roots.push_back(sha256(encode(around)));
      put(peer, encode(around));
    }
  }
  std::vector<Digest> roots;

 private:
  static void put(Peer& peer, const std::string& blob) {
    for (std::size_t at = 0; at < blob.size(); at += kMaxPieceBytes) {
      peer.send_bulk(PutBlobs{
          {snapshot::make_piece(sha256(blob), blob.size(), at, blob.substr(at, kMaxPieceBytes))}});
      EXPECT_TRUE(peer.next_bulk<PutBlobsReply>());
    }
  }
  std::vector<std::string> folders_;
};

// Of 600 that bob sends at once. Before there were turns, others waited for all of them.
TEST_F(DaemonBlobsTest, AUsersHugeTreesDelayNoOtherUserAndNoNode) {
  const HugeTrees huge(*bob_);  // before the node, which says nothing meanwhile
  Node node(*this, "n1");
  upload(*alice_, secret_);
  ASSERT_FALSE(submit(*alice_, "hers", secret_).snapshot_missing);
  const AttemptId attempt = node.assigned("hers");
  const Tree made("what the ranks left");
  upload(node.peer, made);
  PartReport report;
  report.attempt = attempt;
  report.state = PartState::finished;
  report.exit.emplace();
  report.exit->ranks.emplace_back();
  CollectedOutput output;
  output.kind = OutputKind::named;
  output.name = "made";
  output.tree = made.root();
  report.outputs.push_back(output);

  std::atomic<bool> is_sent = false;
  std::atomic<int> answers = 0;
  std::thread bob([&] {
    for (const Digest& root : huge.roots) {
      JobSpec spec = small_job();
      spec.run_as = "";
      spec.snapshot = root;
      bob_->send(Submit{root.hex(), spec});
    }
    is_sent = true;
    while (answers < HugeTrees::kSubmits && bob_->next<SubmitReply>()) ++answers;
  });
  while (!is_sent) std::this_thread::yield();
  EXPECT_FALSE(submit(*alice_, "hers-too", secret_).snapshot_missing);
  const int before_alice = answers;
  node.report(report);
  const int before_node = answers;
  upload(node.peer, Tree("more"));
  const int before_upload = answers;
  EXPECT_LE(before_alice, 5);
  EXPECT_LE(before_node, 10);
  EXPECT_LE(before_upload, 15);
  bob.join();
  const auto job = alice_->ask_for<JobReply>(ShowJob{JobId("hers")});
  ASSERT_TRUE(job);
  EXPECT_EQ(job->job.attempts.back().parts.at(0).outputs.at(0).tree, made.root());
  // What failed once is not looked at again: the rest of his is answered at once.
  EXPECT_EQ(answers, HugeTrees::kSubmits);
}

// Every node would refuse it, attempt after attempt.
TEST_F(DaemonBlobsTest, CodeHasNothingWhereJobsKeepTheirOutputs) {
  const Tree forged("mine", ".lockstep"), good("mine");
  upload(*alice_, forged);
  upload(*alice_, good);
  JobSpec spec = small_job("forged");
  spec.snapshot = forged.root();
  const std::string why =
      "code: has '.lockstep', where jobs keep their outputs; give that another name";
  EXPECT_EQ(refused(*alice_, spec).message, why);
  JobSpec whole = small_job("whole");
  PipelineSpec pipeline;
  for (const Tree* tree : {&good, &forged}) {
    PipelineStep& step = pipeline.steps.emplace_back();
    step.name = tree == &good ? "good" : "forged";
    step.spec = small_job("");
    step.spec.run_as = "";
    step.spec.snapshot = tree->root();
  }
  whole.pipeline = pipeline;
  EXPECT_EQ(refused(*alice_, whole).message, why);
  EXPECT_FALSE(submit(*alice_, "good", good).snapshot_missing);
}

}  // namespace
}  // namespace lockstep
