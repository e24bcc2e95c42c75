// Each job file of the tables is refused as they say, and the next good one is taken.

#include <gtest/gtest.h>

#include "launcher/files/job_file.h"
#include "tests/unit/launcher/files/bad_input.h"
#include "tests/unit/launcher/files/environment/bad_environments.h"

namespace lockstep::spec {
namespace {

class BadJobFile : public testing::TestWithParam<BadInput> {};

TEST_P(BadJobFile, IsRefusedWithItsPlace) {
  const BadInput& bad = GetParam();
  const auto job = parse_job("job.yml", bad.text, bad.overrides, from(files_of_bad_pipelines()));
  ASSERT_FALSE(job) << "was accepted";
  // Messages that end with ": " are followed by the YAML library's own words.
  if (bad.message.ends_with(": ")) {
    EXPECT_EQ(job.error().message.substr(0, bad.message.size()), bad.message);
    EXPECT_GT(job.error().message.size(), bad.message.size());
  } else {
    EXPECT_EQ(job.error().message, bad.message);
  }
  EXPECT_EQ(job.error().code, bad.code);
  EXPECT_TRUE(parse_job("job.yml", "command: the next good job\n"));
}

const auto name_of = [](const auto& info) { return std::string(info.param.name); };
INSTANTIATE_TEST_SUITE_P(Keys, BadJobFile, testing::ValuesIn(bad_keys()), name_of);
INSTANTIATE_TEST_SUITE_P(Pipelines, BadJobFile, testing::ValuesIn(bad_pipelines()), name_of);
INSTANTIATE_TEST_SUITE_P(Values, BadJobFile, testing::ValuesIn(bad_values()), name_of);

}  // namespace
}  // namespace lockstep::spec
