// Which messages of the bulk socket a real lockstepd takes from a user's key and from a node's. A
// new message does not compile until it has a row. Whose blobs and logs they may be is tested
// apart.

#include <gmock/gmock.h>

#include "common/wire/join_token.h"
#include "tests/unit/common/wire/fill.h"
#include "tests/unit/launcher/daemon/daemon_process.h"

namespace lockstep {
namespace {

// y: taken; -: refused; a: refused to an attachment; b: it depends on the blobs; q: nothing is
// said.
struct Row {
  const char* message;
  char user, node;
};
constexpr Row kRows[] = {
    {"MissingBlobs", 'b', 'b'},   {"MissingBlobsReply", '-', '-'}, {"PutBlobs", 'b', 'b'},
    {"PutBlobsReply", '-', '-'},  {"GetBlobs", 'b', 'b'},          {"BlobData", '-', '-'},
    {"LogAppend", '-', '-'},                                // of a job that is not the node's
    {"LogAck", '-', '-'},         {"LogResume", '-', '-'},  // the same
    {"LogFollow", '-', '-'},                                // of a job that there is not
    {"LogChunk", '-', '-'},       {"LogCredit", 'q', 'q'},         {"LogEnd", '-', '-'},
    {"BulkRefused", '-', '-'},    {"FindPeers", '-', '-'},  // of a tree that is not assigned to it
    {"FindPeersReply", '-', '-'}, {"FetchReport", '-', 'y'},       {"AskUnits", '-', '-'},
    {"UnitsReply", '-', '-'},     {"AttachFrame", 'a', 'q'},  // an opening, of a job that there is
                                                              // not
};
static_assert(std::size(kRows) == std::variant_size_v<BulkMessage>,
              "who may send the new message? give it a row");

void look(test::Peer& peer, const BulkMessage& message, char expected, const std::string& where) {
  if (expected == 'b') return;
  peer.send_bulk(message);
  if (expected == '-') {
    EXPECT_TRUE(peer.next_bulk<BulkRefused>()) << where;
  }
  if (expected == 'a') {
    const auto answer = peer.next_bulk<AttachFrame>();
    ASSERT_TRUE(answer) << where;
    EXPECT_TRUE(std::holds_alternative<AttachRefused>(answer->body)) << where;
  }
  if (expected == 'y') {
    EXPECT_TRUE(peer.next_bulk<FindPeersReply>()) << where;
  }
}

TEST(BulkPermissions, AreThoseOfTheTableForUsersAndNodes) {
  test::DaemonProcess daemon;
  const io::KeyPair ann = test::authorized_user(daemon), bob = test::authorized_user(daemon, "bob");
  ASSERT_TRUE(daemon.start({"--allow-root"})) << daemon.log();
  test::Peer admin(daemon.endpoint(), ann);
  test::Peer user(daemon.endpoint(), bob);
  test::Peer node(daemon.endpoint());
  const auto reply = admin.ask_for<TokenReply>(CreateToken{minutes(5), 1});
  ASSERT_TRUE(reply) << daemon.log();
  const auto joined =
      node.join(JoinRequest{wire::decode_join_token(reply->token)->secret, "n1", "test"});
  ASSERT_TRUE(joined && std::holds_alternative<JoinAccepted>(*joined)) << daemon.log();
  test::for_each_alternative<BulkMessage>([&](const BulkMessage& message) {
    const Row& row = kRows[message.index()];
    look(user, message, row.user, std::string(row.message) + " of a user");
    look(node, message, row.node, std::string(row.message) + " of a node");
  });
}

TEST(BulkPermissions, ANodeThatWaitsForApprovalSendsAndGetsNoFiles) {
  test::DaemonProcess daemon;
  const io::KeyPair ann = test::authorized_user(daemon);
  ASSERT_TRUE(daemon.start({"--allow-root", "--approve-nodes"})) << daemon.log();
  test::Peer admin(daemon.endpoint(), ann);
  test::Peer node(daemon.endpoint());
  const auto reply = admin.ask_for<TokenReply>(CreateToken{minutes(5), 1});
  ASSERT_TRUE(reply) << daemon.log();
  const auto joined =
      node.join(JoinRequest{wire::decode_join_token(reply->token)->secret, "n1", "test"});
  ASSERT_TRUE(joined && std::holds_alternative<JoinAccepted>(*joined)) << daemon.log();
  const Digest some = sha256("some");
  const auto refused = [&](const BulkMessage& message) {
    node.send_bulk(message);
    const auto answer = node.next_bulk<BulkRefused>();
    return answer ? answer->message : std::string();
  };
  EXPECT_THAT(refused(MissingBlobs{{some}}), testing::HasSubstr("waits for approval"));
  EXPECT_THAT(refused(PutBlobs{}), testing::HasSubstr("waits for approval"));
  GetBlobs get;
  get.root = some;
  get.digests = {some};
  EXPECT_THAT(refused(get), testing::HasSubstr("does not belong to an attempt that is assigned"));
  ASSERT_TRUE(admin.ask_for<Done>(ApproveNode{"n1"})) << daemon.log();
  node.send_bulk(MissingBlobs{{some}});
  EXPECT_TRUE(node.next_bulk<MissingBlobsReply>()) << daemon.log();
}

}  // namespace
}  // namespace lockstep
