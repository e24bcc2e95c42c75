// Merge keys of YAML ("<<: *base"), as PyYAML reads them: az reads its files with it.

#include <gtest/gtest.h>

#include "common/domain/job/pipeline.h"
#include "launcher/files/job_file.h"

namespace lockstep::spec {
namespace {

using Map = std::map<std::string, std::string>;

// The tags of a job; each of these texts is their mapping, below `lockstep` anchors of its own.
Map tags_of(const std::string& text) {
  const auto job = parse_job("job.yml", "command: x\n" + text);
  if (job) return job->spec.tags;
  ADD_FAILURE() << job.error().message;
  return {};
}

TEST(MergeKeys, OwnKeysAreOverMergedOnes) {
  const std::string base = "environment_variables: &base {a: '1', b: '2'}\n";
  EXPECT_EQ(tags_of(base + "tags: {<<: *base, b: 3, c: 4}\n"),
            (Map{{"a", "1"}, {"b", "3"}, {"c", "4"}}));
  EXPECT_EQ(tags_of(base + "tags: {b: 3, <<: *base}\n"), (Map{{"a", "1"}, {"b", "3"}}));
  EXPECT_EQ(tags_of("tags:\n  <<: {a: 1}\n  a: 2\n"), (Map{{"a", "2"}}));
}

TEST(MergeKeys, OfAListTheFirstMappingWins) {
  const std::string bases =
      "environment_variables: &one {a: '1', b: '1'}\ninputs: &two {b: '2', c: '2'}\n";
  EXPECT_EQ(tags_of(bases + "tags: {<<: [*one, *two]}\n"),
            (Map{{"a", "1"}, {"b", "1"}, {"c", "2"}}));
  EXPECT_EQ(tags_of(bases + "tags: {<<: [*two, *one, {d: 3}]}\n"),
            (Map{{"a", "1"}, {"b", "2"}, {"c", "2"}, {"d", "3"}}));
}

TEST(MergeKeys, OfTwoMergeKeysTheLaterWins) {
  EXPECT_EQ(tags_of("tags:\n  <<: {a: 1, b: 1}\n  <<: {b: 2}\n"), (Map{{"a", "1"}, {"b", "2"}}));
}

TEST(MergeKeys, WhatWasMergedIsMergedOn) {
  EXPECT_EQ(tags_of("environment_variables: &one {a: '1', b: '1'}\n"
                    "inputs: &two {<<: *one, b: '2', c: '2'}\n"
                    "tags: {<<: *two, c: 3}\n"),
            (Map{{"a", "1"}, {"b", "2"}, {"c", "3"}}));
}

TEST(MergeKeys, AQuotedKeyMergesNothing) {
  EXPECT_EQ(tags_of("tags: {'<<': x, a: '<<'}\n"), (Map{{"<<", "x"}, {"a", "<<"}}));
}

TEST(MergeKeys, AStepMayHaveTheKeysOfAnother) {
  const auto job = parse_job("job.yml",
                             "jobs:\n"
                             "  small: &step\n"
                             "    command: train ${{inputs.lr}}\n"
                             "    inputs: {lr: 1}\n"
                             "    resources: {instance_count: 2}\n"
                             "  large:\n"
                             "    <<: *step\n"
                             "    inputs: {lr: 2}\n",
                             {"jobs.small.resources.instance_count=3"});
  ASSERT_TRUE(job) << job.error().message;
  const auto& steps = job->spec.pipeline->steps;
  EXPECT_EQ(steps.at(0).spec.resources.instance_count, 3);
  EXPECT_EQ(std::get<ShellCommand>(steps.at(0).spec.command).text, "train 1");
  EXPECT_EQ(steps.at(1).spec.resources.instance_count, 2);
  EXPECT_EQ(std::get<ShellCommand>(steps.at(1).spec.command).text, "train 2");
}

// Each mapping merges the one before it twice: 2^40 entries, were they kept apart.
TEST(MergeKeys, ManyOfThemStayWithinTheBound) {
  std::string text = "tags:\n  t0: &t0 {a: 1}\n";
  for (int i = 1; i <= 40; ++i) {
    const std::string name = "t" + std::to_string(i), before = "*t" + std::to_string(i - 1);
    text += "  " + name + ": &" + name + " {x: {<<: " + before + "}, y: {<<: " + before + "}}\n";
  }
  const auto job = parse_job("job.yml", "command: x\n" + text);
  ASSERT_FALSE(job);
  EXPECT_NE(job.error().message.find("values (aliases expanded)"), std::string::npos);
}

}  // namespace
}  // namespace lockstep::spec
