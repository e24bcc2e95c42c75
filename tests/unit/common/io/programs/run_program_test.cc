#include "common/io/programs/run_program.h"

#include <gtest/gtest.h>

#include "tests/unit/common/io/helpers.h"

namespace lockstep::io {
namespace {

TEST(RunProgramTest, TellsWhatWasPrintedAndTheExitCode) {
  const auto done = run_program({"sh", "-c", "echo out; echo err >&2; exit 3"}, seconds(20));
  ASSERT_TRUE(done);
  EXPECT_EQ(done->text, "out\n");
  EXPECT_EQ(done->errors, "err\n");
  EXPECT_EQ(done->exit_code, 3);
  EXPECT_EQ(run_program({"sh", "-c", "kill -9 $$"}, seconds(20))->exit_code, 137);
}

TEST(RunProgramTest, KeepsAMebibyteOfTheOutputAndReadsItAll) {
  const auto done = run_program({"sh", "-c", "head -c 3000000 /dev/zero; exit 5"}, seconds(20));
  EXPECT_EQ(done->text.size(), 1u << 20);
  EXPECT_EQ(done->exit_code, 5);
}

TEST(RunProgramTest, WhatIsNotThereOrDoesNotEndIsAnError) {
  EXPECT_EQ(run_program({"lockstep-nothing"}, seconds(20)).error().code, ErrorCode::not_found);
  EXPECT_EQ(run_program({"sh"}, seconds(20), "/nonexistent").error().code, ErrorCode::not_found);
  EXPECT_EQ(run_program({"sleep", "1000"}, milliseconds(50)).error().code, ErrorCode::unavailable);
}

TEST(RunProgramTest, NothingIsReadFromOurInput) {
  EXPECT_EQ(run_program({"cat"}, seconds(20))->exit_code, 0);
}

TEST(RunProgramTest, InputAndEnvironmentAreGiven) {
  const auto input = memory_file("from memory");
  ASSERT_TRUE(input);
  ProgramOptions options{seconds(20)};
  options.input = input->get();
  options.environment = {"HOME=/elsewhere", "LOCKSTEP_ADDED=1"};
  const auto done = run_program({"sh", "-c", "cat; echo \" $HOME $LOCKSTEP_ADDED\"; env"}, options);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->text.substr(0, 24), "from memory /elsewhere 1");
  EXPECT_EQ(done->text.find("HOME=/root"), std::string::npos) << "the variable is there once";
  EXPECT_NE(done->text.find("PATH="), std::string::npos);
}

}  // namespace
}  // namespace lockstep::io
