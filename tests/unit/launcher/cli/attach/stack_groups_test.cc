// Stacks of ranks: what the tools print, and which ranks stand at the same places.

#include "launcher/cli/attach/stack_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lockstep::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kLibrary = "/usr/lib/python3/dist-packages/torch/distributed.py";

StackProcess python(int rank, std::vector<StackFrame> frames) {
  StackProcess process;
  process.rank = rank;
  process.pid = 100 + rank;
  process.command = "python3 train.py --rank " + std::to_string(rank);
  process.tool = "py-spy";
  process.threads = {{"MainThread", 100 + rank, true, true, std::move(frames)}};
  return process;
}

std::vector<StackFrame> in_all_reduce() {
  return {{"all_reduce", kLibrary, 2501},
          {"wrapper", kLibrary, 80},
          {"step", "/w/train.py", 88},
          {"main", "/w/train.py", 120}};
}

StackReport report_of(std::vector<StackProcess> processes) {
  StackReport report{"j", 1, {}, {}};
  group_stacks(std::move(processes), "n1", &report);
  sort_groups(&report);
  return report;
}

TEST(StackGroups, TheOneThatDiffersComesFirst) {
  std::vector<StackProcess> all;
  for (int rank = 6; rank >= 0; --rank)
    all.push_back(python(
        rank, rank == 3 ? std::vector<StackFrame>{{"read", "", 0}, {"next", "/w/dataset.py", 41}}
                        : in_all_reduce()));
  const StackReport report = report_of(all);
  ASSERT_EQ(report.groups.size(), 2u);
  EXPECT_THAT(report.groups[0].ranks, ElementsAre(3));
  EXPECT_THAT(report.groups[1].ranks, ElementsAre(0, 1, 2, 4, 5, 6));
  const std::string text = stacks_text(report);
  EXPECT_THAT(text, HasSubstr("rank 3: read <- next dataset.py:41\n"
                              "6 ranks (0–2, 4–6): all_reduce <- step train.py:88 <- main "
                              "train.py:120\n"));
  EXPECT_THAT(text, HasSubstr("    MainThread 103, holds the GIL\n      read\n"));
}

TEST(StackGroups, AnotherLineOrThreadIsAnotherGroup) {
  StackProcess other = python(1, in_all_reduce());
  other.threads[0].frames[2].line = 89;
  StackProcess more = python(2, in_all_reduce());
  more.threads.push_back({"loader", 7, false, false, {{"wait", "", 0}}});
  StackProcess same = python(3, in_all_reduce());
  same.threads.insert(same.threads.begin(), {"loader", 9, false, false, {{"wait", "", 0}}});
  const StackReport report = report_of({python(0, in_all_reduce()), other, more, same});
  ASSERT_EQ(report.groups.size(), 3u);
  EXPECT_THAT(report.groups.back().ranks, ElementsAre(2, 3)) << "threads come in any order";
}

TEST(StackGroups, AShellThatWaitsIsNotWhatTheRankDoes) {
  StackProcess shell;
  shell.command = "/bin/bash -c python3 train.py";
  shell.tool = "eu-stack";
  shell.threads = {{"", 1, true, false, {{"wait4", "", 0}}}};
  const StackReport report = report_of({shell, python(0, in_all_reduce())});
  ASSERT_EQ(report.groups.size(), 1u);
  EXPECT_THAT(report.groups[0].summary, HasSubstr("step train.py:88"));
  EXPECT_EQ(report.groups[0].processes.size(), 2u);
}

TEST(StackGroups, RanksThatCannotBeReadSayWhy) {
  StackProcess dark;
  dark.rank = 4;
  dark.error = "neither eu-stack nor gdb is on this node";
  StackProcess darker = dark;
  darker.rank = 5;
  const StackReport report = report_of({dark, darker, python(0, in_all_reduce())});
  ASSERT_EQ(report.unread.size(), 1u);
  EXPECT_THAT(report.unread[0].ranks, ElementsAre(4, 5));
  EXPECT_THAT(stacks_text(report),
              HasSubstr("2 ranks (4–5) on n1: not read: neither eu-stack nor gdb"));
  EXPECT_EQ(api::to_json(report)["unread"][0]["node_name"], "n1");
}

TEST(StackGroups, WordsOfTheJobBreakNoLineAndNoTerminal) {
  StackProcess hostile = python(0, {{"a\nrank 9: b\x1b[2J", "/w/\x1b]0;t\x07.py", 1}});
  hostile.command = "x\ny";
  const std::string text = stacks_text(report_of({hostile}));
  EXPECT_THAT(text, Not(HasSubstr("\nrank 9")));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(StackDump, ReadsPySpy) {
  const auto process = stack_process_from(
      R"({"rank": 2, "pid": 17, "command": "python3 t.py", "tool": "py-spy", "threads": [)"
      R"({"pid": 17, "thread_id": 1, "thread_name": "MainThread", "os_thread_id": 17,)"
      R"( "active": true, "owns_gil": true, "frames": [{"name": "step", "filename": "/w/t.py",)"
      R"( "short_filename": "t.py", "line": 88, "locals": null}]}]})");
  ASSERT_TRUE(process) << process.error().message;
  EXPECT_EQ(process->rank, 2);
  ASSERT_EQ(process->threads.size(), 1u);
  EXPECT_TRUE(process->threads[0].is_main);
  EXPECT_TRUE(process->threads[0].has_gil);
  EXPECT_EQ(process->threads[0].frames[0], (StackFrame{"step", "/w/t.py", 88}));
}

TEST(StackDump, ReadsEuStack) {
  const auto threads = threads_from_text(
      "PID 17 - process\nTID 17:\n#0  0x00007f12a8b0e1f7 __poll\n#1  0x000055d0c8e0 main\n"
      "TID 19:\n#0  0x00007f12a8b1 clone3 - /lib/libc.so.6\n#1  0x0000 - 1\n");
  ASSERT_EQ(threads.size(), 2u);
  EXPECT_EQ(threads[0].id, 17);
  EXPECT_EQ(threads[0].frames[0].function, "__poll");
  EXPECT_EQ(threads[0].frames[1].function, "main");
  EXPECT_EQ(threads[1].frames[0].function, "clone3");
}

TEST(StackDump, ReadsGdb) {
  const auto threads = threads_from_text(
      "[New LWP 18]\n0x00007f in __poll () from /lib/libc.so.6\n\n"
      "Thread 2 (Thread 0x7f00 (LWP 18) \"loader (1)\"):\n"
      "#0  0x00007f00 in read (fd=3) from /lib/libc.so.6\n"
      "Thread 1 (Thread 0x7f01 (LWP 17) \"prog\"):\n"
      "#0  0x00007f01 in __poll () from /lib/libc.so.6\n"
      "#1  step (n=3) at /w/hello.c:12\n#2  main () at hello.c:20\n");
  ASSERT_EQ(threads.size(), 2u);
  EXPECT_EQ(threads[0].name, "loader (1)");
  EXPECT_EQ(threads[0].id, 18);
  EXPECT_EQ(threads[1].frames[1], (StackFrame{"step", "/w/hello.c", 12}));
  EXPECT_EQ(threads[1].frames[2], (StackFrame{"main", "hello.c", 20}));
}

TEST(StackDump, OtherBytesAreRefusedOrRead) {
  for (const char* line : {"", "[]", "{}", "null", "{\"rank\": \"x\"}", "{\"rank\": 1", "\xff"})
    EXPECT_FALSE(stack_process_from(line)) << line;
  for (const char* line :
       {R"({"rank": 0, "threads": [1, null, {"frames": 3}, {"frames": [4, {"line": -1}]}]})",
        R"({"rank": 0, "threads": {}, "text": 3})", R"({"rank": 0, "text": "#\n#x\n#1\n#1 \n"})",
        R"({"rank": 0, "pid": 99999999999999999999})"})
    EXPECT_TRUE(stack_process_from(line)) << line;
}

}  // namespace
}  // namespace lockstep::cli
