// What the top of a stack says, as py-spy, eu-stack and gdb show it.

#include "runner/watch/stack_top.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/domain/ranks/standing.h"

namespace lockstep::runner {
namespace {

using nlohmann::json;

json frame(const std::string& name, const std::string& file, int line) {
  return {{"name", name}, {"filename", file}, {"short_filename", nullptr}, {"line", line}};
}

std::string python(const json& frames) {
  const json line = {
      {"rank", 3},
      {"pid", 17},
      {"tool", "py-spy"},
      {"threads",
       {{{"thread_name", "pt_autograd_0"}, {"os_thread_id", 19}, {"frames", json::array()}},
        {{"thread_name", "MainThread"}, {"os_thread_id", 17}, {"frames", frames}}}}};
  return line.dump() + "\n";
}

std::string native(const std::string& text) {
  return json{{"rank", 3}, {"pid", 17}, {"tool", "eu-stack"}, {"text", text}}.dump();
}

TEST(StackTop, ACollectiveOfTorchIsNamedAsTheUserCalledIt) {
  const auto top = parse_stack_line(python(json::array({
      frame("wait", "/env/lib/python3.11/threading.py", 327),
      frame("all_reduce", "/env/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py",
            2050),
      frame("wrapper", "/env/lib/python3.11/site-packages/torch/distributed/c10d_logger.py", 72),
      frame("step", "/job/train.py", 88),
      frame("<module>", "/job/train.py", 120),
  })));
  ASSERT_TRUE(top);
  EXPECT_EQ(top->pid, 17);
  EXPECT_TRUE(top->waits);
  EXPECT_EQ(top->within, "all_reduce");
  EXPECT_EQ(top->at, "train.py:88");
}

// torch.compile and a library's layers, below the frames of FSDP.
TEST(StackTop, WhatComputesBelowFsdpDoesNotWait) {
  const std::string packages = "/env/lib/python3.11/site-packages/";
  const auto top = parse_stack_line(python(json::array({
      frame("compile_fx", packages + "torch/_inductor/compile_fx.py", 700),
      frame("forward", packages + "transformers/models/llama/modeling_llama.py", 900),
      frame("forward", packages + "torch/distributed/fsdp/fully_sharded_data_parallel.py", 800),
      frame("dispatch", packages + "torch/distributed/tensor/_dispatch.py", 200),
      frame("main", packages + "mpi4py/run.py", 196),
      frame("train", "/job/train.py", 41),
  })));
  ASSERT_TRUE(top);
  EXPECT_FALSE(top->waits);
  EXPECT_EQ(top->within, "");
  EXPECT_EQ(top->at, "train.py:41");
}

TEST(StackTop, NativeFramesShowTheCallOfMpi4py) {
  const auto top = parse_stack_line(python(json::array({
      frame("opal_progress", "libopen-pal.so.40", 0),
      frame("ompi_coll_base_barrier_intra_two_procs", "libmpi.so.40", 0),
      frame("PMPI_Barrier", "libmpi.so.40", 0),
      frame("__pyx_pw_6mpi4py_3MPI_4Comm_Barrier", "MPI.cpython-311-x86_64-linux-gnu.so", 0),
      frame("<module>", "/job/ring.py", 7),
  })));
  ASSERT_TRUE(top);
  EXPECT_TRUE(top->waits);
  EXPECT_EQ(top->within, "MPI_Barrier");
  EXPECT_EQ(top->at, "ring.py:7");
}

TEST(StackTop, WhoComputesInAnExtensionDoesNotWait) {
  const auto top = parse_stack_line(python(json::array({
      frame("dgemm_kernel", "libopenblas.so", 0),
      frame("evaluate", "/job/eval.py", 88),
      frame("all_reduce", "/env/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py",
            1),
  })));
  ASSERT_TRUE(top);
  EXPECT_FALSE(top->waits) << "the collective called the user's code";
  EXPECT_EQ(top->within, "");
  EXPECT_EQ(top->at, "eval.py:88");
}

TEST(StackTop, AGpusWorkIsWaitedFor) {
  const auto top = parse_stack_line(python(json::array({
      frame("cuStreamSynchronize", "libcuda.so.1", 0),
      frame("cudaStreamSynchronize", "libcudart.so.12", 0),
      frame("train", "/job/train.py", 41),
  })));
  ASSERT_TRUE(top);
  EXPECT_TRUE(top->waits);
  EXPECT_EQ(top->within, "cudaStreamSynchronize");
}

TEST(StackTop, WithoutTheUsersCodeItsLibraryIsShown) {
  const auto top = parse_stack_line(
      python(json::array({frame("_run", "/env/lib/python3.11/site-packages/tool/cli.py", 5)})));
  ASSERT_TRUE(top);
  EXPECT_FALSE(top->waits);
  EXPECT_EQ(top->at, "cli.py:5");
}

TEST(StackTop, EuStackAndGdb) {
  auto top = parse_stack_line(
      native("PID 17 - process\nTID 17:\n#0  0x00007f312 sched_yield@@GLIBC_2.2.5\n"
             "#1  0x00007f313 opal_progress\n#2  0x00007f314 ompi_request_default_wait\n"
             "#3  0x00007f315 PMPI_Recv\n#4  0x0000555 exchange_halo\n#5  0x0000556 main\n"
             "TID 18:\n#0  0x00007f316 poll\n"));
  ASSERT_TRUE(top);
  EXPECT_TRUE(top->waits);
  EXPECT_EQ(top->within, "MPI_Recv");
  EXPECT_EQ(top->at, "exchange_halo");
  top = parse_stack_line(native(
      "[New LWP 18]\n\nThread 2 (Thread 0x7f (LWP 18) \"a\"):\n#0  0x00007f in poll () from /l.so\n"
      "\n"
      "Thread 1 (Thread 0x7f (LWP 17) \"a\"):\n#0  solve (n=3) at /src/solver.c:12\n"
      "#1  0x0000555 in main (argc=1) at /src/main.c:7\n"));
  ASSERT_TRUE(top);
  EXPECT_FALSE(top->waits);
  EXPECT_EQ(top->at, "solve (solver.c:12)");
}

TEST(StackTop, FortranAndNccl) {
  auto top =
      parse_stack_line(native("TID 17:\n#0  0x1 mca_btl_vader_poll\n#1  0x2 mpi_barrier_\n"
                              "#2  0x3 MAIN__\n"));
  ASSERT_TRUE(top);
  EXPECT_EQ(top->within, "mpi_barrier_");
  EXPECT_EQ(top->at, "MAIN__");
  top = parse_stack_line(native("TID 17:\n#0  0x1 ncclGroupEnd\n#1  0x2 nccl_test_main\n"));
  ASSERT_TRUE(top);
  EXPECT_EQ(top->within, "ncclGroupEnd");
  EXPECT_EQ(top->at, "nccl_test_main");
}

TEST(StackTop, NamesThatLookLikeTheSystemsAreTheUsers) {
  for (const char* name :
       {"read_batch", "select_action", "poll_queue", "custom_kernel", "sendall"}) {
    const auto top = parse_stack_line(native(std::string("TID 17:\n#0  0x1 ") + name + "\n"));
    ASSERT_TRUE(top);
    EXPECT_EQ(top->at, name);
  }
}

TEST(StackTop, BadInputIsNoStackOrAShortOne) {
  for (const char* bad : {"", "x", "[]", "{}", R"({"pid":17})", R"({"pid":17,"error":"no tool"})",
                          R"({"pid":17,"threads":[]})", R"({"pid":17,"threads":[{"frames":3}]})",
                          R"({"pid":17,"threads":[1,2]})", R"({"pid":"x","threads":{}})",
                          R"({"pid":17,"text":7})", R"({"pid":17,"text":"no frames here"})"})
    EXPECT_FALSE(parse_stack_line(bad)) << bad;
  json many = json::array();
  for (int i = 0; i < 10'000; ++i) many.push_back(frame("f", "/lib/python3.11/x.py", i));
  EXPECT_TRUE(parse_stack_line(python(many)));
  const auto hostile = parse_stack_line(
      python(json::array({frame("\x1b[2J" + std::string(9000, 'a'), "/job/\x1b]0;x\x07.py", -5)})));
  ASSERT_TRUE(hostile);
  EXPECT_EQ(hostile->at.find('\x1b'), std::string::npos);
  EXPECT_LE(hostile->at.size(), kMaxStandingTextBytes);
}

}  // namespace
}  // namespace lockstep::runner
