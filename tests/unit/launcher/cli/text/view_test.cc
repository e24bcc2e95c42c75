#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "common/domain/why/jobs/ends.h"
#include "common/domain/why/nodes/losses.h"
#include "launcher/api/json/cluster.h"
#include "launcher/api/json/job.h"
#include "launcher/cli/terminal/output.h"
#include "launcher/cli/text/not_kept_text.h"
#include "launcher/cli/text/phrases.h"
#include "launcher/cli/text/view_text.h"
#include "tests/unit/launcher/cli/samples.h"

namespace lockstep::cli {
namespace {

TEST(JobJson, IsShapedLikeAzures) {
  const Json json = api::to_json(sample_job());
  const Json report = Json::parse(R"({
    "cause": "exit_code", "exit_code": 7, "rank": 3, "node_name": "local-1",
    "time": "2030-01-01T12:00:11.000Z", "message": "rank 3 on local-1 exited with code 7",
    "reason_data": {"code": "told", "text": "rank 3 on local-1 exited with code 7"},
    "stderr_tail": "Traceback:\n  boom\u001b[31m\n", "backtrace": "", "hang": null,
    "lost_peer": null, "terminated_ranks": [0, 1, 2], "also": [], "clocks": []})");
  Json want = Json::parse(R"({
    "name": "gray_pig", "type": "command", "status": "Failed", "display_name": "Digits",
    "experiment_name": "handwriting", "description": "A small network.",
    "tags": {"owner": "ada"}, "archived": false, "command": "python train.py", "compute": "local",
    "environment": null, "environment_variables": {"A": "b"}, "inputs": {"lr": "1e-3"},
    "outputs": {"model": {"type": "uri_folder", "mode": "upload", "path": null, "name": null, "version": null}},
    "jobs": null,
    "distribution": {"type": "mpi", "process_count_per_instance": 2},
    "resources": {"instance_count": 2}, "limits": {"timeout": 90},
    "queue_settings": {"priority": "medium", "job_tier": null},
    "creation_context": {"created_at": "2030-01-01T12:00:00.000Z", "created_by": "ada"},
    "lockstep": {"snapshot": null, "project": "default", "run_as": "ada", "resources": {}, "binding": "auto", "gpus_per_rank": "all",
                 "isolated": false, "rdma": "off", "labels": {}, "nodes": [],
                 "retry": {"max": 3, "on": ["infrastructure"], "backoff": 1,
                           "on_lost": "immediately"},
                 "checkpoint": {"every": 60},
                 "limits": {"pids": null, "log": null, "disk": null, "required": false},
                 "grace_period": null, "signal": null, "terminal": "none",
                 "hang_after": 120, "on_hang": "report", "core": "off", "keep": [],
                 "compute_why": "", "compute_why_data": null,
                 "from_checkpoint_of": null, "after": [], "not_before": null, "parent": null, "step": null,
                 "array": null, "replaced_environment": null, "array_index": null,
                 "shared": false},
    "reason": "rank 3 on local-1 exited with code 7", "reason_data": null, "queue_position": 0,
    "restarts": 0, "retry_at": null,
    "ended_at": "2030-01-01T12:00:12.000Z", "exit_code": 7, "report": null,
    "attempts": [{
        "number": 1, "placed": "2030-01-01T12:00:01.000Z",
        "started": "2030-01-01T12:00:02.000Z", "ended": "2030-01-01T12:00:12.000Z",
        "parts": [{"node_name": "local-1", "node_rank": 1, "first_rank": 2, "ranks": 2,
                   "state": "finished", "progress": "", "reason_data": null, "limits": [], "limits_data": [], "notes": [], "notes_data": [], "cpus": [2, 3], "memory": 4294967296,
                   "gpus": [], "outputs": [{"kind": "named", "name": "model", "digest": null,
                                            "files": 2, "size": 300, "partial": 0, "problems": ["a: a fifo"]}],
                   "not_kept": null, "logs_not_kept": null, "environment": null, "use": null, "used": [],
                   "rank_states": [{"rank": 2, "state": "Unknown", "exit_code": null, "ended": null},
                                   {"rank": 3, "state": "Unknown", "exit_code": null, "ended": null}],
                   "settings": []}],
        "report": null, "retried": null, "reason_data": null, "checkpoint": null, "found": [], "probe": null}],
    "warnings": [], "silent_seconds": null})");
  want["report"] = report;
  want["attempts"][0]["report"] = report;
  EXPECT_EQ(json.dump(1), want.dump(1));
}

TEST(JobJson, AnArgvIsAList) {
  JobView job;
  job.spec.command = Argv{{"echo", "a b"}};
  const Json json = api::to_json(job);
  EXPECT_EQ(json["command"], Json::parse(R"(["echo", "a b"])"));
  EXPECT_TRUE(json["distribution"].is_null());
  EXPECT_TRUE(json["limits"].is_null());
  EXPECT_EQ(json["experiment_name"], "Default");
}

TEST(JobTable, OneLineEach) {
  JobView queued;
  queued.spec.name = "next";
  queued.status = JobStatus::queued;
  queued.reason = "waits for 2 free nodes";
  queued.submitted = kNoon + seconds(15);
  EXPECT_EQ(job_table({queued, sample_job()}, kNoon + seconds(20)),
            "NAME      STATUS  USER  EXPERIMENT   DISPLAY NAME  NODESxRANKS  SUBMITTED  RAN    "
            "RESTARTS  REASON\n"
            "next      Queued                                   1x1          5.0s ago   -      "
            "0         waits for 2 free nodes\n"
            "gray_pig  Failed  ada   handwriting  Digits        2x2          20.0s ago  10.0s  "
            "0         rank 3 on local-1 exited with code 7\n");
  EXPECT_EQ(job_table({}, kNoon), "no jobs yet; try: lockstep run -- hostname\n");
}

TEST(JobTable, FitsTheTerminal) {
  const auto widest = [](const std::string& table) {
    std::size_t widest = 0;
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);) {
      std::size_t width = 0;
      for (const char c : line) width += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
      widest = std::max(widest, width);
    }
    return widest;
  };
  JobView job = sample_job();
  job.spec.display_name = "a display name with many words";
  const std::string full = job_table({job}, kNoon);
  for (std::size_t columns = 60; columns < 160; ++columns) {
    const std::string table = job_table({job}, kNoon, columns);
    EXPECT_LE(widest(table), columns) << table;
    EXPECT_NE(table.find("gray_pig  Failed"), std::string::npos) << table;
    EXPECT_NE(table.find("rank 3 on"), std::string::npos) << table;
  }
  EXPECT_EQ(job_table({job}, kNoon, widest(full)), full) << "nothing is cut that fits";
  EXPECT_NE(job_table({job}, kNoon, widest(full) - 1).find("…"), std::string::npos);
  EXPECT_EQ(job_table({job}, kNoon, 60).find("RESTARTS"), std::string::npos);
}

// The column cut it off, and with it what to do.
TEST(JobTable, TheReasonOfAWaitInVainIsWhole) {
  JobView job;
  job.spec.name = "wide";
  job.status = JobStatus::queued;
  job.reason =
      "needs 5 nodes, but only 2 nodes of target 'lab' can ever take it; to change that, "
      "ask for at most 2 nodes";
  JobView other = job;
  other.spec.name = "other";
  job.in_vain = true;
  const std::string table = job_table({job, other}, kNoon, 80);
  EXPECT_TRUE(table.ends_with("…\nwide: " + job.reason + "\n")) << table;
  EXPECT_EQ(table.find("other: "), std::string::npos) << table;
  EXPECT_EQ(job_table({job}, kNoon).find("wide: "), std::string::npos);
  EXPECT_EQ(job_table({job}, kNoon, 400), job_table({job}, kNoon)) << "it is in the table";
}

TEST(JobText, OutputsHaveTheTypeOfTheFileAndTheNameThatTheyGot) {
  JobView job = sample_job();
  job.spec.outputs = {{"net"}, {"table"}, {"score", OutputType::uri_file}};
  job.spec.outputs[0].declared = InputType::custom_model;
  job.spec.outputs[1].declared = InputType::mltable;
  job.merged = {{"net", {}, {}, {}, "regd:1"}, {"table", {}, {}, {}}};
  const std::string text = job_text(job, kNoon + seconds(20));
  EXPECT_NE(
      text.find("outputs:      net (custom_model), registered as regd:1, table (mltable), score "
                "(uri_file)\n"),
      std::string::npos)
      << text;
  const Json outputs = api::to_json(job)["outputs"];
  EXPECT_EQ(outputs["net"]["type"], "custom_model");
  EXPECT_EQ(outputs["net"]["registered_as"], "regd:1");
  EXPECT_TRUE(outputs["table"]["registered_as"].is_null());
}

TEST(JobText, SaysAll) {
  EXPECT_EQ(job_text(sample_job(), kNoon + seconds(20)),
            "name:         gray_pig\n"
            "status:       Failed\n"
            "reason:       rank 3 on local-1 exited with code 7\n"
            "display name: Digits\n"
            "experiment:   handwriting\n"
            "description:  A small network.\n"
            "tags:         owner=ada\n"
            "inputs:       lr=1e-3\n"
            "outputs:      model (uri_folder)\n"
            "command:      python train.py\n"
            "shape:        2 nodes x 2 ranks (mpi)\n"
            "holds:        whole nodes\n"
            "timeout:      1m30s\n"
            "submitted:    2030-01-01T12:00:00.000Z (20.0s ago) by ada\n"
            "ended:        2030-01-01T12:00:12.000Z\n"
            "ran:          10.0s\n"
            "exit code:    7\n"
            "attempt 1: started 2030-01-01T12:00:02.000Z, ended 2030-01-01T12:00:12.000Z "
            "(exit_code)\n"
            "    local-1: node rank 1, ranks 2–3, finished; cpus 2-3, memory 4.0 GiB\n"
            "      output 'model': a: a fifo\n"
            "    ended: rank 3 on local-1 exited with code 7\n");
}

TEST(JobText, SaysThatAJobIsArchived) {
  JobView job = sample_job();
  job.archived = true;
  EXPECT_TRUE(api::to_json(job)["archived"].get<bool>());
  EXPECT_NE(job_table({job}, kNoon).find("Failed (archived)"), std::string::npos);
  EXPECT_NE(job_text(job, kNoon)
                .find("archived:     left out of lists; lockstep job restore "
                      "gray_pig\n"),
            std::string::npos);
  job.spec.parent = JobId("iris");
  job.spec.step = "train";
  EXPECT_NE(job_text(job, kNoon).find("archived:     with pipeline iris\n"), std::string::npos);
}

TEST(JobText, SaysWhichOutputsWereNeverWrittenOfAJobThatCompleted) {
  JobView job = sample_job();
  const std::string line =
      "warning:      output 'report' (uri_file) was never written: no rank "
      "wrote to ${{outputs.report}}\n";
  job.spec.outputs.push_back({"report", OutputType::uri_file, OutputMode::rw_mount});
  EXPECT_EQ(job_text(job, kNoon).find("warning:"), std::string::npos) << "it failed";
  job.status = JobStatus::completed;
  EXPECT_NE(job_text(job, kNoon).find(line), std::string::npos) << job_text(job, kNoon);
  EXPECT_EQ(api::to_json(job)["warnings"].size(), 1u);
}

TEST(JobText, SaysWhichPatternsMatchedNothing) {
  JobView job = sample_job();
  job.spec.keep = {"*.pt", "checkpoints/"};
  job.status = JobStatus::completed;
  for (PartView& part : job.attempts.back().parts) part.not_kept.emplace().unmatched = {1};
  EXPECT_EQ(api::to_json(job)["warnings"],
            Json({"keep 'checkpoints/' matched no file that the ranks made outside ./outputs and "
                  "./logs"}));
  EXPECT_NE(job_text(job, kNoon).find("keeps:        '*.pt' checkpoints/\n"), std::string::npos)
      << job_text(job, kNoon);
}

TEST(JobText, SaysWhatWasNotKept) {
  JobView job = sample_job();
  EXPECT_EQ(not_kept_text(job), "");
  NotKept& first = job.attempts.back().parts[0].not_kept.emplace();
  first.names = {"model.pt", "checkpoints/"};
  first.files = 2;
  first.size = mebibytes(41);
  EXPECT_EQ(not_kept_text(job),
            "model.pt, checkpoints/ (2 files, 41.0 MiB); write to outputs/ or use --keep "
            "(lockstep.keep in a job file)");
  EXPECT_NE(job_text(job, kNoon).find("not kept:     model.pt, checkpoints/ (2 files"),
            std::string::npos);
  const Json node = api::to_json(job)["attempts"].back()["parts"][0]["not_kept"];
  EXPECT_EQ(node, Json::parse(R"({"names": ["model.pt", "checkpoints/"], "more": 0, "files": 2,
                                  "size": 42991616, "at_least": false})"));
  PartView second = job.attempts.back().parts[0];
  second.not_kept->names = {"model.pt", "other"};
  second.not_kept->more = 3;
  second.not_kept->at_least = true;
  job.attempts.back().parts.push_back(second);
  EXPECT_EQ(not_kept_text(job),
            "model.pt, checkpoints/, other and 3 more (at least 4 files on 2 nodes, 82.0 MiB); "
            "write to outputs/ or use --keep (lockstep.keep in a job file)");
}

TEST(JobText, SaysWhichLogsWereNotKeptAlsoOfAJobThatCompleted) {
  JobView job = sample_job();
  job.status = JobStatus::completed;
  EXPECT_EQ(lost_logs_text(job), "");
  job.attempts.back().parts[0].lost_logs = mebibytes(53);
  const std::string lost =
      "the last 53.0 MiB of the logs of node local-1 were not kept: the launcher had no space for "
      "them";
  EXPECT_EQ(lost_logs_text(job), lost);
  EXPECT_NE(job_text(job, kNoon).find("warning:      " + lost + "\n"), std::string::npos);
  EXPECT_EQ(api::to_json(job)["attempts"][0]["parts"][0]["logs_not_kept"], mebibytes(53).count);
  job.attempts.back().parts[0].lost_logs = Bytes{0};
  EXPECT_EQ(lost_logs_text(job),
            "the last logs of node local-1 did not arrive in time and were not kept");
}

TEST(JobText, SaysHowLongAllAttemptsRan) {
  JobView job = sample_job();
  job.attempts.push_back(job.attempts[0]);
  job.attempts[1].number = 2;
  job.attempts[1].started = job.attempts[1].ended - seconds(3);
  const std::string text = job_text(job, kNoon);
  EXPECT_NE(text.find("ran:          3.0s in attempt 2, 13.0s in all\n"), std::string::npos)
      << text;
}

TEST(JobText, AProblemStaysInItsLine) {
  JobView job = sample_job();
  job.attempts[0].parts[0].outputs[0].problems = {"a\nexit code:    0"};
  EXPECT_NE(job_text(job, kNoon).find("output 'model': a exit code:    0\n"), std::string::npos);
}

TEST(JobText, IndentsFurtherLinesAndSaysWhatIsHeld) {
  JobView job = sample_job();
  job.spec.description = "two\nlines\n";
  job.spec.tags = {{"a", "b c"}, {"owner", "ada"}};
  job.spec.resources.cpus = 2;
  job.spec.resources.memory = gibibytes(1);
  const std::string text = job_text(job, kNoon);
  for (const char* part :
       {"description:  two\n              lines\ntags:         a=b c, owner=ada\n",
        "holds:        cpus 2, memory 1.0 GiB, all gpus on each node\n"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(JobText, AnAttemptSaysWhatItBeganWithAndWhyAnotherFollows) {
  JobView job = sample_job();
  CheckpointView& checkpoint = job.attempts[0].checkpoint.emplace();
  checkpoint.attempt = 1;
  checkpoint.saved = kNoon;
  job.attempts[0].retried = "node n2 was lost; retry 1 of 3";
  std::string text = job_text(job, kNoon);
  EXPECT_NE(text.find("    begins with the checkpoint of attempt 1, saved "
                      "2030-01-01T12:00:00.000Z: not there yet\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("    ended: node n2 was lost; retry 1 of 3\n"), std::string::npos) << text;
  checkpoint.tree = sha256("tree");
  checkpoint.files = 1;
  checkpoint.size = kibibytes(2);
  text = job_text(job, kNoon);
  EXPECT_NE(text.find(": 1 file, 2.0 KiB\n"), std::string::npos) << text;
  const Json json = api::to_json(job)["attempts"][0];
  EXPECT_EQ(json["retried"], "node n2 was lost; retry 1 of 3");
  EXPECT_EQ(json["checkpoint"]["attempt"], 1);
  EXPECT_EQ(json["checkpoint"]["size"], 2048);
}

TEST(NodeTable, OneLineEach) {
  EXPECT_EQ(
      node_table({sample_node()}),
      "NAME     STATE           CPUS  MEMORY   GPUS  ADDRESS    JOBS  AGENT  REASON\n"
      "local-1  ALIVE,draining  2     4.0 GiB  0     127.0.0.1  1     -      drained: disk\n");
  EXPECT_NE(node_text(sample_node(), kNoon).find("cannot:       no user namespaces\n"),
            std::string::npos);
  EXPECT_EQ(api::to_json(sample_node())["jobs"], Json::parse(R"(["gray_pig.1"])"));
  NodeView waiting = sample_node();
  waiting.draining = false;
  waiting.waits_for_approval = true;
  EXPECT_NE(node_table({waiting}).find("  ALIVE,unapproved  "), std::string::npos);
  EXPECT_EQ(api::to_json(waiting)["waits_for_approval"], true);
}

TEST(NodeTable, AnAgentOfAnotherVersionIsMarked) {
  NodeView node = sample_node();
  node.agent_version = "0.9.1";
  EXPECT_NE(node_table({node}).find("  0.9.1  drained"), std::string::npos) << node_table({node});
  node.other_version = true;
  EXPECT_NE(node_table({node}).find("  0.9.1 (differs)  "), std::string::npos);
  EXPECT_NE(node_text(node, kNoon)
                .find("lockstep-agent 0.9.1, another version than the launcher's (`lockstep "
                      "status`); install the launcher's version on the node and restart "),
            std::string::npos)
      << node_text(node, kNoon);
  EXPECT_NE(node_text(node, kNoon, "0.9.2")
                .find("lockstep-agent 0.9.1, but the launcher has 0.9.2; install 0.9.2 on "),
            std::string::npos)
      << "a node that is drained takes no jobs: " << node_text(node, kNoon, "0.9.2");
  node.draining = false;
  node.reason.clear();
  EXPECT_NE(node_text(node, kNoon, "0.9.2")
                .find("lockstep-agent 0.9.1, but the launcher has 0.9.2; jobs still run there; "
                      "install 0.9.2 on the node and restart lockstep-agent (jobs go on)\n"),
            std::string::npos)
      << node_text(node, kNoon, "0.9.2");
  EXPECT_EQ(api::to_json(node)["agent_version"], "0.9.1");
  EXPECT_EQ(api::to_json(node)["other_version"], true);
}

TEST(NodeTable, ItsHistoryIsListed) {
  NodeView node = sample_node();
  node.history = {{kNoon, "Lost", NodeNotHeard{seconds(10)}, "it has not reported for 10s"}};
  EXPECT_NE(node_text(node, kNoon).find("Lost: it has not reported for 10s\n"), std::string::npos);
  EXPECT_EQ(api::to_json(node)["history"][0]["what"], "Lost");
  EXPECT_EQ(api::to_json(node)["history"][0]["reason_data"]["code"], "node_not_heard");
}

TEST(NodeTable, AClockThatIsOffIsSaidWhereNothingElseIs) {
  NodeView node = sample_node();
  node.reason.clear();
  node.clock_ahead = seconds(4);
  EXPECT_EQ(clock_trouble(node), "");
  node.clock_ahead = -minutes(24 * 60) - milliseconds(100);
  EXPECT_NE(node_table({node}).find("  its clock is 24h00m behind the launcher's\n"),
            std::string::npos)
      << node_table({node});
  EXPECT_NE(node_text(node, kNoon).find("clock:        its clock is 24h00m behind"),
            std::string::npos);
  EXPECT_EQ(api::to_json(node)["clock_ahead_seconds"], -86'400.1);
  node.reason = "drained: disk";
  EXPECT_EQ(node_table({node}).find("clock"), std::string::npos);
}

TEST(NodeTable, AMeasuredClockIsSaidFromATenthOfASecond) {
  NodeView node = sample_node();
  node.reason.clear();
  node.clock_ahead = -milliseconds(200);
  node.clock_uncertainty = std::chrono::microseconds(400);
  EXPECT_EQ(clock_trouble(node), "its clock is 0.20 s behind the launcher's (± 0.4 ms)");
  node.clock_ahead = seconds(2);
  EXPECT_EQ(clock_trouble(node), "its clock is 2.00 s ahead of the launcher's (± 0.4 ms)");
  node.clock_ahead = milliseconds(100);
  EXPECT_EQ(clock_trouble(node), "");
  node.clock_ahead = milliseconds(200);
  node.clock_uncertainty = milliseconds(150);
  EXPECT_EQ(clock_trouble(node), "") << "it may well be right";
  EXPECT_EQ(api::to_json(node)["clock_uncertainty_seconds"], 0.15);
}

TEST(JobText, SaysWhichVariablesSteerTheNetwork) {
  JobView job = sample_job();
  EXPECT_EQ(job_text(job, kNoon).find("network:"), std::string::npos);
  job.spec.environment_variables = {
      {"NCCL_SOCKET_IFNAME", "eth7"}, {"EPOCHS", "3"}, {"OMPI_MCA_btl", "self"}};
  EXPECT_NE(job_text(job, kNoon).find("network:      NCCL_SOCKET_IFNAME=eth7, OMPI_MCA_btl=self\n"),
            std::string::npos)
      << job_text(job, kNoon);
}

TEST(JobText, AnEndInTheSameWordsIsNotSaidAgain) {
  JobView job;
  job.spec.name = "j";
  job.status = JobStatus::queued;
  job.attempts.resize(3);
  for (int i = 0; i < 3; ++i) {
    AttemptView& attempt = job.attempts[static_cast<std::size_t>(i)];
    attempt.number = i + 1;
    attempt.report.emplace().cause = Cause::start_failed;
    attempt.report->message = i < 2 ? "docker: a page" : "podman: another";
    attempt.report->why = told(attempt.report->message);
    attempt.retried = attempt.report->message + "; retry " + std::to_string(i + 1) + " of 3";
    attempt.why = RetriedAfter{attempt.report->why, ChargedRetry{i + 1, 3}};
  }
  const std::string text = job_text(job, kNoon);
  EXPECT_NE(text.find("    ended: docker: a page; retry 1 of 3\n"), std::string::npos) << text;
  EXPECT_NE(text.find("    ended: like attempt 1; retry 2 of 3\n"), std::string::npos) << text;
  EXPECT_NE(text.find("    ended: podman: another; retry 3 of 3\n"), std::string::npos) << text;
}

TEST(StatusText, CountsWhatThereIs) {
  LauncherStatus status;
  status.version = "0.1.0";
  status.pid = 42;
  status.home = "/h";
  status.endpoint = "ipc:///h/control.sock";
  status.started = kNoon;
  status.jobs = {{"Completed", 3}, {"Running", 1}};
  EXPECT_EQ(status_text(status, kNoon + seconds(61)),
            "launcher:     running, version 0.1.0, pid 42, up since 2030-01-01T12:00:00.000Z "
            "(1m01s ago)\n"
            "home:         /h\n"
            "endpoint:     ipc:///h/control.sock\n"
            "nodes:        none\n"
            "jobs:         3 Completed, 1 Running\n"
            "keeps:        jobs that have ended: for 365d, the newest 100000, 100.0 GiB of logs\n");
  status.nodes = {{"ALIVE", 2}};
  status.draining = 2;
  EXPECT_NE(status_text(status, kNoon).find("nodes:        2 ALIVE; 2 of them draining: no new "),
            std::string::npos);
  EXPECT_EQ(api::to_json(status)["draining_nodes"], 2);
  status.keeps = {Duration(0), 0, {}, {}};
  EXPECT_NE(status_text(status, kNoon).find("keeps:        jobs that have ended: all\n"),
            std::string::npos);
}

TEST(Ranges, AreShort) {
  EXPECT_EQ(ranges_of({}), "");
  EXPECT_EQ(ranges_of({8, 0, 1, 2, 5}), "0-2,5,8");
  EXPECT_EQ(ranges_in_words({8, 0, 1, 2, 5}), "0–2, 5, 8");
}

}  // namespace
}  // namespace lockstep::cli
