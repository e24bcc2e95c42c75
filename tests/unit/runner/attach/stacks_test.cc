// The processes of a rank in a fake /proc, the tools for each, and the lines about them.

#include "runner/attach/stacks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "common/io/file_system.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::runner {
namespace {

class FakeMachine {
 public:
  void add(int pid, int parent, int own, const std::string& command, const std::string& exe) {
    const std::string folder = fmt::format("{}/proc/{}", root(), pid);
    ASSERT_TRUE(io::make_directories(folder));
    const auto write = [&](const char* name, const std::string& text) {
      ASSERT_TRUE(io::write_file_atomically(folder + "/" + name, text, 0644, false));
    };
    write("stat", fmt::format("{} (x) S {} {} {} 0 -1 0 0 0 0 0 1 2 3 4 20 0 1 0 100 1000 10 0\n",
                              pid, parent, pid, pid));
    write("status", fmt::format("Name:\tx\nNSpid:\t{}\t{}\n", pid, own));
    write("cmdline", command);
    if (!exe.empty()) {
      ASSERT_EQ(symlink(exe.c_str(), (folder + "/exe").c_str()), 0);
    }
  }
  std::string root() const { return dir_ / "root"; }

 private:
  test::TempDir dir_;
};

TEST(Stacks, ARanksProcessesAreItsTree) {
  FakeMachine machine;
  machine.add(10, 1, 10, "lockstep-runner", "");
  machine.add(50, 10, 1, "lockstep-spawn", "/bin/lockstep-spawn");
  machine.add(51, 50, 2, std::string("bash\0-c\0x", 9), "/bin/bash");
  machine.add(52, 51, 3, std::string("python3\0train.py\0", 17), "/env/bin/python3.11 (deleted)");
  machine.add(53, 52, 4, std::string("/usr/bin/python3\0-c\0w", 21), "");
  machine.add(54, 52, 5, "", "");                 // it has ended
  machine.add(60, 50, 6, "sleep", "/bin/sleep");  // another rank
  machine.add(70, 1, 2, "another", "/bin/another");
  const auto found = processes_of_rank(7, 2, 50, machine.root());
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].rank, 7);
  EXPECT_EQ(found[0].pid, 2);
  EXPECT_EQ(found[0].command, "bash -c x");
  EXPECT_TRUE(found[0].is_rank);
  EXPECT_FALSE(found[0].is_python);
  EXPECT_EQ(found[1].pid, 3);
  EXPECT_TRUE(found[1].is_python);
  EXPECT_FALSE(found[1].is_rank);
  EXPECT_TRUE(found[2].is_python) << "its command says so";
  const auto both = processes_of_ranks({{7, 2}, {8, 6}, {9, 9}}, 50, machine.root());
  ASSERT_EQ(both.size(), 4u);
  EXPECT_EQ(both[2].rank, 7);
  EXPECT_EQ(both[3].rank, 8);
  EXPECT_EQ(both[3].command, "sleep");
  EXPECT_TRUE(processes_of_rank(7, 9, 50, machine.root()).empty());
  EXPECT_TRUE(processes_of_rank(7, 2, -1, machine.root()).empty());
}

TEST(Stacks, PythonIsAskedOfPySpyAndTheRestOfOthers) {
  TracedProcess process;
  process.pid = 17;
  process.is_python = true;
  auto tools = stack_tools(process, false);
  ASSERT_EQ(tools.size(), 3u);
  EXPECT_EQ(tools[0].words, (std::vector<std::string>{"py-spy", "dump", "--json", "--pid", "17"}));
  EXPECT_EQ(stack_tools(process, true)[0].words.back(), "--native");
  process.is_python = false;
  tools = stack_tools(process, true);
  ASSERT_EQ(tools.size(), 2u);
  EXPECT_EQ(tools[0].name, "eu-stack");
  EXPECT_EQ(tools[1].name, "gdb");
}

TEST(Stacks, YamaIsSaid) {
  EXPECT_EQ(why_no_tracing("0\n", false), "");
  EXPECT_EQ(why_no_tracing("1\n", false), "");
  EXPECT_EQ(why_no_tracing("2\n", true), "");
  EXPECT_NE(why_no_tracing("2\n", false).find("only root"), std::string::npos);
  EXPECT_NE(why_no_tracing("3\n", true).find("nobody"), std::string::npos);
}

nlohmann::json line_of(const StackResult& result) {
  const std::string line = stack_line(result);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  return nlohmann::json::parse(line);
}

TEST(Stacks, WhatPySpySaysIsPassedOn) {
  StackResult result;
  result.process.rank = 3;
  result.process.pid = 17;
  result.tool = "py-spy";
  result.output = "[\n {\"thread_name\": \"MainThread\",\n \"frames\": [{\"line\": 88}]}\n]\n";
  const auto line = line_of(result);
  EXPECT_EQ(line["rank"], 3);
  EXPECT_EQ(line["pid"], 17);
  EXPECT_EQ(line["threads"][0]["frames"][0]["line"], 88);
  EXPECT_FALSE(line.contains("text"));
  EXPECT_FALSE(line.contains("error"));
}

// The process, and the py-spy of its environment, may be anybody's.
TEST(Stacks, WhatIsNoListOfThreadsIsText) {
  StackResult result;
  result.tool = "py-spy";
  for (const std::string& text :
       {std::string("no json"), std::string("{\"a\": 1}"), std::string("[1, 2"),
        std::string(500'000, '['), std::string("[\"\\\"[[[[[[[[[[[[[[[[[[[[\"")}) {
    result.output = text;
    const auto line = line_of(result);
    EXPECT_FALSE(line.contains("threads"));
    EXPECT_EQ(line["text"], text);
  }
  result.tool = "eu-stack";
  result.output = "[1]";
  EXPECT_EQ(line_of(result)["text"], "[1]");
  result.output = std::string("\xff\x1b[2J\0x", 7);
  EXPECT_TRUE(line_of(result).contains("text"));
}

}  // namespace
}  // namespace lockstep::runner
