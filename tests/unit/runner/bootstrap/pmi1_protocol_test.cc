// What a node answers to the lines of its ranks, which may be hostile.

#include "runner/bootstrap/pmi1_protocol.h"

#include <gtest/gtest.h>

#include <vector>

namespace lockstep::runner {
namespace {

// One node with two ranks, which records what it is told to do.
class Pmi1Node {
 public:
  explicit Pmi1Node(int node = 0) : first_rank_(node * 2), protocol_(job(node), events()) {}

  // What is answered at once; "closed" if the rank loses its connection.
  std::string say(int local_rank, const std::string& line) {
    answers_.clear();
    return protocol_.receive(first_rank_ + local_rank, line) ? answers_ : "closed";
  }
  void end_barrier(const std::string& keys) {
    answers_.clear();
    protocol_.end_barrier(keys);
  }

  std::string answers_;
  std::vector<int> connected_, finalized_;
  std::vector<std::string> aborted_, refused_, barriers_;

 private:
  static Pmi1Protocol::Job job(int node) { return {"keys", 2, 2, node * 2}; }
  Pmi1Protocol::Events events() {
    return {[this](int rank) { connected_.push_back(rank); },
            [this](int rank) { finalized_.push_back(rank); },
            [this](int rank, int code, const std::string& message) {
              aborted_.push_back(std::to_string(rank) + " " + std::to_string(code) + " " + message);
            },
            [this](int, std::string what) { refused_.push_back(std::move(what)); },
            [this](int, const std::string& line) { answers_ += line; },
            [this](std::string keys) { barriers_.push_back(std::move(keys)); }};
  }
  int first_rank_;
  Pmi1Protocol protocol_;
};

TEST(Pmi1Protocol, ARankLearnsTheShapeOfItsJob) {
  Pmi1Node node(1);
  EXPECT_EQ(node.say(0, "cmd=init pmi_version=1 pmi_subversion=1"),
            "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
  EXPECT_EQ(node.connected_, std::vector<int>{2});
  EXPECT_EQ(node.say(0, "cmd=get_maxes"),
            "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024 rc=0\n");
  EXPECT_EQ(node.say(0, "cmd=get_my_kvsname"), "cmd=my_kvsname kvsname=keys rc=0\n");
  EXPECT_EQ(node.say(0, "cmd=get_appnum"), "cmd=appnum appnum=0 rc=0\n");
  EXPECT_EQ(node.say(0, "cmd=get_universe_size"), "cmd=universe_size size=4 rc=0\n");
  EXPECT_EQ(node.say(0, "cmd=get kvsname=keys key=PMI_process_mapping"),
            "cmd=get_result rc=0 msg=success value=(vector,(0,2,2))\n");
  EXPECT_EQ(node.say(0, "cmd=finalize"), "cmd=finalize_ack rc=0\n");
  EXPECT_EQ(node.finalized_, std::vector<int>{2});
}

TEST(Pmi1Protocol, ABarrierExchangesTheNewKeysOfAllNodes) {
  Pmi1Node first(0), second(1);
  EXPECT_EQ(first.say(0, "cmd=put kvsname=keys key=a value=1=x"),
            "cmd=put_result rc=0 msg=success\n");
  EXPECT_EQ(second.say(1, "cmd=put kvsname=keys key=b value=[2]"),
            "cmd=put_result rc=0 msg=success\n");
  EXPECT_EQ(first.say(0, "cmd=get kvsname=keys key=b"),
            "cmd=get_result rc=-1 msg=key_not_found value=unknown\n");
  EXPECT_EQ(first.say(0, "cmd=barrier_in"), "");
  EXPECT_TRUE(first.barriers_.empty());
  EXPECT_EQ(first.say(1, "cmd=barrier_in"), "");
  second.say(0, "cmd=barrier_in");
  second.say(1, "cmd=barrier_in");
  ASSERT_EQ(first.barriers_.size(), 1u);
  const std::string all = first.barriers_[0] + second.barriers_.at(0);
  first.end_barrier(all);
  EXPECT_EQ(first.answers_, "cmd=barrier_out rc=0\ncmd=barrier_out rc=0\n");
  EXPECT_EQ(first.say(1, "cmd=get kvsname=keys key=b"),
            "cmd=get_result rc=0 msg=success value=[2]\n");
  second.end_barrier(all);
  EXPECT_EQ(second.say(0, "cmd=get kvsname=keys key=a"),
            "cmd=get_result rc=0 msg=success value=1=x\n");
  first.say(0, "cmd=barrier_in");
  first.say(1, "cmd=barrier_in");
  EXPECT_EQ(first.barriers_.at(1), "");  // nothing is sent twice
}

TEST(Pmi1Protocol, AnAbortHasACodeAndMaybeWords) {
  Pmi1Node node;
  node.say(0, "cmd=abort exitcode=7");
  node.say(1, "cmd=abort exitcode=-1 message=it broke here");
  node.say(1, "cmd=abort exitcode=99999999999999999999");
  EXPECT_EQ(node.aborted_, (std::vector<std::string>{"0 7 ", "1 -1 it broke here", "1 1 "}));
}

TEST(Pmi1Protocol, WhatIsNotServedIsRefusedByName) {
  Pmi1Node node;
  EXPECT_EQ(node.say(0, "cmd=init pmi_version=2 pmi_subversion=0"),
            "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1\n");
  EXPECT_TRUE(node.connected_.empty());
  for (const char* line : {"mcmd=spawn", "nprocs=2", "cmd=put key=k value=v", ""})
    EXPECT_EQ(node.say(0, line), "") << line;
  EXPECT_EQ(node.say(0, "endcmd"), "cmd=spawn_result rc=-1 msg=not_supported\n");
  EXPECT_EQ(node.say(1, "cmd=get key=k"), "cmd=get_result rc=-1 msg=key_not_found value=unknown\n");
  EXPECT_EQ(node.say(1, "cmd=publish_name service=s port=p"),
            "cmd=publish_result rc=-1 msg=not_supported\n");
  EXPECT_EQ(node.say(1, "cmd=unpublish_name service=s"),
            "cmd=unpublish_result rc=-1 msg=not_supported\n");
  EXPECT_EQ(node.say(1, "cmd=lookup_name service=s"),
            "cmd=lookup_result rc=-1 msg=not_supported\n");
  EXPECT_EQ(node.say(1, "cmd=barrier_in group=0,1:5"), "cmd=barrier_out rc=-1 msg=not_supported\n");
  ASSERT_EQ(node.refused_.size(), 5u);
  EXPECT_EQ(node.refused_[0], "MPI_Comm_spawn");
}

TEST(Pmi1Protocol, HostileLinesEndTheConnection) {
  const std::string zeros("\0\0cmd=init", 10);
  for (const std::string& line : std::initializer_list<std::string>{
           "", " ", "cmd", "cmd=", "cmd=none", "CMD=init", "endcmd", "\xff\xfe", zeros, "cmd=put",
           "cmd=put key=k", "cmd=put value=v", "cmd=put key= value=v", "cmd=put key=a=b value=v",
           "cmd=put key=" + std::string(65, 'k') + " value=v",
           "cmd=put key=k value=" + std::string(1025, 'v'), std::string(8000, ' '),
           std::string(8000, '=')}) {
    Pmi1Node node;
    EXPECT_EQ(node.say(0, line), "closed") << line;
    EXPECT_NE(node.say(1, "cmd=get_maxes"), "closed");
  }
}

TEST(Pmi1Protocol, ARankCanOnlyPutSoMuch) {
  Pmi1Node keys, bytes;
  for (int i = 0; i < kMaxPmi1Keys; ++i)
    ASSERT_NE(keys.say(0, "cmd=put key=k value=v"), "closed") << i;
  EXPECT_EQ(keys.say(0, "cmd=put key=k value=v"), "closed");
  EXPECT_NE(keys.say(1, "cmd=put key=k value=v"), "closed");  // each rank has its own share
  const std::string value(1023, 'v');
  for (std::size_t i = 0; i < kMaxPmi1Bytes / 1024; ++i)
    ASSERT_NE(bytes.say(0, "cmd=put key=k value=" + value), "closed") << i;
  EXPECT_EQ(bytes.say(0, "cmd=put key=k value=v"), "closed");
}

TEST(Pmi1Keys, PartsThatMakeNoSenseAreSkipped) {
  Pmi1Keys keys;
  keys.add("\n\nnospace\na 1\n b\nc \nlast 2");
  EXPECT_EQ(*keys.find("a"), "1");
  EXPECT_EQ(*keys.find("c"), "");
  EXPECT_EQ(*keys.find("last"), "2");
  EXPECT_EQ(keys.find("nospace"), nullptr);
  EXPECT_EQ(keys.take_new(), "");  // they are not ours to pass on
}

}  // namespace
}  // namespace lockstep::runner
