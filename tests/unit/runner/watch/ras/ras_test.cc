// What NCCL's RAS says, as JSON of 2.28 on and as the text of all versions.

#include "runner/watch/ras/ras_report.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "runner/watch/ras/ras_client.h"

namespace lockstep::runner {
namespace {

std::string rank_json(int rank, const std::string& host, int pid, int reduces) {
  return fmt::format(R"({{"rank":{},"host":"{}","pid":{},"cuda_dev":0,"nvml_dev":0,
    "status":{{"init_state":0,"async_error":0,"finalize_called":false,"destroy_flag":false,
    "abort_flag":false}},"collective_counts":{{"AllReduce":{},"Broadcast":0}}}})",
                     rank, host, pid, reduces);
}

std::string report_json(const std::string& ranks, const std::string& missing) {
  return fmt::format(R"({{"nccl_version":"2.29.1","cuda_runtime_version":13000,
    "timestamp":"2026-01-01 00:00:00","communicators_count":1,"communicators":[
    {{"hash":"0x27a079b828ff1a75","secondary_hash":"0x1:0x2","size":3,"ranks_count":2,
    "missing_ranks_count":1,"ranks":[{}],"missing_ranks":[{}]}}],
    "ras":{{"collection_time_sec":0.123,"timeouts_count":2}}}})",
                     ranks, missing);
}

const std::string kMissing = R"({"rank":2,"host":"10.0.0.6","pid":19,)"
                             R"("status":{"unresponsive":true,"considered_dead":true}})";

TEST(Ras, JsonHasCountsOfEachRank) {
  const auto report = parse_ras_json(report_json(
      rank_json(0, "10.0.0.4", 17, 6650) + "," + rank_json(1, "10.0.0.5", 17, 6649), kMissing));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->nccl_version, "2.29.1");
  EXPECT_EQ(report->timeouts, 2);
  ASSERT_EQ(report->communicators.size(), 1u);
  const RasCommunicator& communicator = report->communicators[0];
  EXPECT_EQ(communicator.hash, "27a079b828ff1a75");
  EXPECT_EQ(communicator.size, 3);
  ASSERT_EQ(communicator.ranks.size(), 2u);
  EXPECT_EQ(communicator.ranks[1].host, "10.0.0.5");
  EXPECT_EQ(communicator.ranks[1].pid, 17);
  EXPECT_EQ(communicator.ranks[1].counts.at("AllReduce"), 6649);
  ASSERT_EQ(communicator.missing.size(), 1u);
  EXPECT_TRUE(communicator.missing[0].dead);
}

TEST(Ras, RanksOfTheJobAreFoundByPidAndHost) {
  const auto report = parse_ras_json(report_json(
      rank_json(0, "10.0.0.4", 17, 6650) + "," + rank_json(1, "10.0.0.5", 17, 6649), kMissing));
  ASSERT_TRUE(report);
  const std::vector<RasProcess> job = {
      {4, 17, {"10.0.0.4"}}, {5, 17, {"10.0.0.5", "fe80::5"}}, {6, 19, {"192.168.0.6"}}};
  const auto counts = counts_by_rank(*report, job);
  ASSERT_EQ(counts.size(), 2u);
  EXPECT_EQ(counts.at(5), (std::vector<CollectiveCount>{{"27a079b828ff1a75", "AllReduce", 6649}}))
      << "without what nobody has launched";
  EXPECT_EQ(unanswering_ranks(*report, job), std::vector<int>{6})
      << "its host has another address here, but no other process has its pid";
  const std::vector<RasProcess> unknown = {{4, 17, {"10.1.0.4"}}, {5, 17, {"10.1.0.5"}}};
  EXPECT_TRUE(counts_by_rank(*report, unknown).empty()) << "two processes have that pid";
  const std::vector<RasProcess> one_host = {{4, 17, {"10.0.0.4"}}, {5, 17, {"10.0.0.4"}}};
  EXPECT_TRUE(counts_by_rank(*report, one_host).empty()) << "in two containers of one host";
}

TEST(Ras, HowOftenARankSendsIsNoCollective) {
  const std::string sends = R"({"rank":0,"host":"10.0.0.4","pid":17,"collective_counts":)"
                            R"({"Send":9,"Recv":2,"AllReduce":99999999999999999}})";
  const auto report = parse_ras_json(report_json(sends, ""));
  ASSERT_TRUE(report) << report.error().message;
  const auto counts = counts_by_rank(*report, {{4, 17, {"10.0.0.4"}}});
  ASSERT_EQ(counts.size(), 1u);
  EXPECT_EQ(counts.at(4),
            (std::vector<CollectiveCount>{{"27a079b828ff1a75", "AllReduce", kMaxRasCount}}));
}

// In containers the ranks of all nodes have the same pid.
TEST(Ras, ManyNodesAreToldApartByTheirHosts) {
  constexpr int kNodes = 10'000;
  RasReport report;
  report.communicators.emplace_back();
  std::vector<RasProcess> job;
  for (int node = 0; node < kNodes; ++node) {
    const std::string host = fmt::format("10.1.{}.{}", node / 250, node % 250);
    RasRank rank;
    rank.rank = node;
    rank.pid = 7;
    rank.host = host;
    rank.counts["AllReduce"] = node + 1;
    report.communicators[0].ranks.push_back(rank);
    job.push_back({node, 7, {host}});
  }
  const auto counts = counts_by_rank(report, job);
  ASSERT_EQ(counts.size(), static_cast<std::size_t>(kNodes));
  EXPECT_EQ(counts.at(kNodes - 1)[0].count, kNodes);
}

TEST(Ras, ACommaThatNcclForgotIsNoHarm) {
  const std::string forgotten =
      "{\"rank\":2,\"host\":\"10.0.0.6\",\"pid\":19\n \"cuda_dev\":1,\n\"status\":"
      "{\"unresponsive\":true\n\"considered_dead\":false}}";
  const auto report = parse_ras_json(report_json(rank_json(0, "10.0.0.4", 17, 1), forgotten));
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->communicators[0].missing.size(), 1u);
  EXPECT_EQ(report->communicators[0].missing[0].pid, 19);
  EXPECT_FALSE(report->communicators[0].missing[0].dead);
}

TEST(Ras, BadJsonIsRefused) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += '[';
  for (const std::string& bad : {std::string(), std::string("{"), std::string("ERROR: x"), deep,
                                 std::string("{\"communicators\":[{\"ranks\":[{\"rank\":1"),
                                 std::string(kMaxRasBytes + 1, ' ')})
    EXPECT_FALSE(parse_ras_json(bad)) << bad.substr(0, 40);
  for (const char* strange :
       {"{}", "[]", "7", R"({"communicators":7})", R"({"communicators":{"ranks":[{}]}})",
        R"({"communicators":[[{"hash":"x"}]]})", R"({"communicators":[{"ranks":{"rank":1}}]})",
        R"({"communicators":[{"hash":7,"size":"x","ranks":[{"rank":"1","pid":-9e99}]}]})",
        R"({"communicators":[{"ranks":[{"collective_counts":[1,2],"status":3}]}]})"})
    EXPECT_TRUE(parse_ras_json(strange)) << strange;
  std::string many;
  for (std::size_t i = 0; i <= kMaxRasCommunicators; ++i) many += many.empty() ? "{}" : ",{}";
  EXPECT_FALSE(parse_ras_json("{\"communicators\":[" + many + "]}"));
  const auto hostile = parse_ras_json(
      report_json(rank_json(0, "\\u001b[2J" + std::string(5000, 'a'), 17, -4), kMissing));
  ASSERT_TRUE(hostile);
  EXPECT_LE(hostile->communicators[0].ranks[0].host.size(), kMaxRasTextBytes + 3);
  EXPECT_EQ(hostile->communicators[0].ranks[0].host.find('\x1b'), std::string::npos);
  EXPECT_EQ(hostile->communicators[0].ranks[0].counts.at("AllReduce"), 0);
}

const std::string kText =
    "NCCL version 2.24.3 compiled with CUDA 12.5\nCUDA runtime version 12050\n\n"
    "Job summary\n===========\n\n  Nodes  Processes\n(total)   per node\n      2          2\n\n"
    "Communicators... (0.00s)\n=============\n\nGroup     Comms\n    0         1\n\n"
    "Errors\n======\n\n"
    "DEAD\n  1 job process is considered dead (unreachable via the RAS network)\n"
    "  Process 99 on node 10.0.0.9 managing GPU 5\n\n"
    "#0-0 (27a079b828ff1a75) INCOMPLETE\n  Missing communicator data from 1 job process\n"
    "  Process 19 on node 10.0.0.6 managing GPU 5\n\n"
    "Warnings\n========\n\n"
    "#0-0 (27a079b828ff1a75) MISMATCH\n"
    "  Communicator ranks have different collective operation counts\n"
    "  2 ranks have launched up to operation 6650\n"
    "  Rank 3 has launched up to operation 6649 -- GPU 3 managed by process 18 on node 10.0.0.5\n";

TEST(Ras, ATextNamesThoseThatDiffer) {
  const auto report = parse_ras_text(kText);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->nccl_version, "2.24.3");
  ASSERT_EQ(report->communicators.size(), 1u);
  const RasCommunicator& communicator = report->communicators[0];
  EXPECT_EQ(communicator.hash, "27a079b828ff1a75");
  EXPECT_EQ(communicator.size, 3);
  ASSERT_EQ(communicator.ranks.size(), 1u);
  EXPECT_EQ(communicator.ranks[0].rank, 3);
  EXPECT_EQ(communicator.ranks[0].pid, 18);
  EXPECT_EQ(communicator.ranks[0].host, "10.0.0.5");
  EXPECT_EQ(communicator.ranks[0].counts.at(""), 6649);
  EXPECT_EQ(communicator.others.at(""), 6650);
  ASSERT_EQ(communicator.missing.size(), 1u);
  EXPECT_FALSE(communicator.missing[0].dead);
  ASSERT_EQ(report->dead.size(), 1u);
  EXPECT_EQ(report->dead[0].pid, 99);
  const std::vector<RasProcess> job = {
      {0, 16, {"10.0.0.4"}}, {1, 17, {"10.0.0.4"}}, {2, 18, {"10.0.0.5"}}};
  const auto counts = counts_by_rank(*report, job);
  ASSERT_EQ(counts.size(), 3u);
  EXPECT_EQ(counts.at(0)[0].count, 6650);
  EXPECT_EQ(counts.at(2)[0].count, 6649);
}

TEST(Ras, ANewerTextCountsEachCollective) {
  const auto report = parse_ras_text(
      "NCCL version 2.30.4\n\n#0-0 (abc) MISMATCH\n"
      "  Communicator ranks have different AllReduce operation counts\n"
      "  6 ranks have launched up to operation 5\n"
      "  2 ranks have not launched any operations\n"
      "  Rank 0 -- GPU 0 managed by process 17 on node 10.0.0.4\n"
      "  Rank 2 -- GPU 2 managed by process 19 on node 10.0.0.4\n\n"
      "  Communicator ranks have different status\n"
      "  Rank 7 has status FINALIZE -- GPU 0 managed by process 7 on node 10.0.0.4\n");
  ASSERT_TRUE(report);
  const RasCommunicator& communicator = report->communicators.at(0);
  ASSERT_EQ(communicator.ranks.size(), 2u) << "a status is no count";
  EXPECT_EQ(communicator.ranks[1].rank, 2);
  EXPECT_EQ(communicator.ranks[1].counts.at("AllReduce"), 0);
  EXPECT_EQ(communicator.others.at("AllReduce"), 5);
  EXPECT_EQ(communicator.size, 8);
}

TEST(Ras, BadTextIsRefusedOrSaysNothing) {
  for (const char* bad : {"", "HTTP/1.1 400 Bad Request\r\n", "#0-0 (x) MISMATCH\n"})
    EXPECT_FALSE(parse_ras_text(bad)) << bad;
  const auto empty = parse_ras_text(
      "NCCL version 2.24.3\n#\n#0-0 )(\n  Rank 1\n  Process x\n  9 ranks\n"
      "#0-0 (a) MISMATCH\n  Communicator ranks have different collective operation counts\n"
      "  99999999999999999999 ranks have launched up to operation 5\n  Rank x -- GPU\n"
      "  Rank 1 -- GPU 1 managed by process 5 on node\n");
  ASSERT_TRUE(empty);
  ASSERT_EQ(empty->communicators.size(), 1u);
  EXPECT_TRUE(empty->communicators[0].ranks.empty());
}

TEST(Ras, TheConversationTakesTheFormatThatIsKnown) {
  EXPECT_TRUE(RasConversation::questions().ends_with("VERBOSE STATUS\n"));
  RasConversation newer;
  EXPECT_TRUE(newer.take("SERVER PROTOCOL 2\nOK\nOK\n"));
  EXPECT_TRUE(newer.take(report_json(rank_json(0, "10.0.0.4", 17, 1), "")));
  const auto json = newer.report();
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ(json->nccl_version, "2.29.1");
  RasConversation older;
  EXPECT_TRUE(older.take("SERVER PROTOCOL 2\nOK\nERROR: Unknown command SET FORMAT json\n"));
  EXPECT_TRUE(older.take(kText));
  const auto text = older.report();
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(text->nccl_version, "2.24.3");
  for (const char* bad :
       {"", "SERVER PROTOCOL 2\n", "SSH-2.0-OpenSSH_9\r\n", "SERVER PROTOCOL 2\nOK"}) {
    RasConversation other;
    EXPECT_TRUE(other.take(bad));
    EXPECT_FALSE(other.report()) << bad;
  }
  RasConversation flood;
  EXPECT_TRUE(flood.take(std::string(kMaxRasBytes, 'x')));
  EXPECT_FALSE(flood.take("x"));
}

TEST(Ras, OnlyItsOwnMachineIsAsked) {
  EXPECT_EQ(ras_port_of("127.0.0.1:6200"), 6200);
  EXPECT_EQ(ras_port_of("localhost:28028"), 28028);
  for (const char* other : {"", "6200", "10.0.0.4:6200", "127.0.0.1:", "127.0.0.1:0",
                            "127.0.0.1:99999", "127.0.0.1:62x", "localhost.evil:1"})
    EXPECT_EQ(ras_port_of(other), std::nullopt) << other;
}

}  // namespace
}  // namespace lockstep::runner
