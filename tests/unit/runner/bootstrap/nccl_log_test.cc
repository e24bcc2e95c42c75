#include "runner/bootstrap/nccl_log.h"

#include <gtest/gtest.h>

namespace lockstep::runner {
namespace {

TEST(NcclLogVariables, WriteTheLogIntoTheFolder) {
  EXPECT_EQ(nccl_log_variables({}, "/tmp/a").at("NCCL_DEBUG_FILE"), "/tmp/a/lockstep-nccl.%h.%p");
}

TEST(NcclLogVariables, AreLeftToAJobThatSetsOneOfThem) {
  for (const char* name : {"NCCL_DEBUG", "NCCL_DEBUG_FILE", "NCCL_DEBUG_SUBSYS"})
    EXPECT_TRUE(nccl_log_variables({{name, "INFO"}}, "/tmp/a").empty()) << name;
}

}  // namespace
}  // namespace lockstep::runner
