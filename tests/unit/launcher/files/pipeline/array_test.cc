// Job arrays: how their indices are written, and the tasks that a job file with one becomes.

#include "common/domain/job/array.h"

#include <gtest/gtest.h>

#include "common/domain/job/pipeline.h"
#include "launcher/files/job_file.h"

namespace lockstep {
namespace {

TEST(Array, IndicesAreWrittenAsForSlurm) {
  const auto indices = [](const char* text) { return array_from(text).value().indices; };
  using Indices = std::vector<int>;
  EXPECT_EQ(indices("0-3"), Indices({0, 1, 2, 3}));
  EXPECT_EQ(indices("7"), Indices({7}));
  EXPECT_EQ(indices("5,1,3,1"), Indices({1, 3, 5}));
  EXPECT_EQ(indices("0-10:5,2"), Indices({0, 2, 5, 10}));
  EXPECT_EQ(indices("999999999"), Indices({999'999'999}));
  EXPECT_EQ(indices("0-9999").size(), 10'000u);
  const ArraySpec array = array_from("0-19%4").value();
  EXPECT_EQ(array.indices.size(), 20u);
  EXPECT_EQ(array.at_most, 4);
  EXPECT_EQ(array.text, "0-19%4");
  EXPECT_EQ(array_from("0-19").value().at_most, 0);
}

TEST(Array, WhatIsNoArrayIsRefused) {
  for (const char* bad : {"",
                          "-",
                          "1-",
                          "-3",
                          "a",
                          "1,",
                          ",1",
                          "1,,2",
                          "3-1",
                          "0-9:0",
                          "0-9:",
                          "5:2",
                          "1 - 3",
                          "+1",
                          "0-3%",
                          "0-3%0",
                          "0-3%-1",
                          "0-3%2%2",
                          "1000000000",
                          "0-10000",
                          "0-999999999",
                          "99999999999999999999",
                          "0x10",
                          "0-3:a"}) {
    const auto array = array_from(bad);
    ASSERT_FALSE(array) << bad;
    EXPECT_NE(array.error().message.find("; write it as 0-19, 1,3,7, 0-100:5 or 0-19%4"),
              std::string::npos)
        << array.error().message;
  }
  EXPECT_FALSE(array_from(std::string(5'000, '1')));
}

TEST(Array, AFileWithOneIsAPipelineOfItsTasks) {
  const auto file = spec::parse_job("job.yml",
                                    "name: sweep\n"
                                    "command: echo ${{inputs.x}}\n"
                                    "code: src\n"
                                    "inputs: {x: 1}\n"
                                    "tags: {a: b}\n"
                                    "compute: azureml:gpu\n"
                                    "lockstep: {array: 2-4%2}\n");
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_TRUE(file->spec.pipeline);
  const PipelineSpec& pipeline = *file->spec.pipeline;
  EXPECT_EQ(pipeline.array, "2-4%2");
  EXPECT_EQ(pipeline.at_most, 2);
  ASSERT_EQ(pipeline.steps.size(), 3u);
  EXPECT_EQ(file->spec.name, "sweep");
  EXPECT_EQ(file->spec.tags.at("a"), "b");
  for (std::size_t i = 0; i < 3; ++i) {
    const PipelineStep& step = pipeline.steps[i];
    const int index = static_cast<int>(i) + 2;
    EXPECT_EQ(step.name, std::to_string(index));
    EXPECT_EQ(step.spec.array, (ArrayTask{index, 3, 2, 4}));
    EXPECT_EQ(step.spec.name, "");
    EXPECT_EQ(step.spec.compute, "gpu");
    EXPECT_EQ(std::get<ShellCommand>(step.spec.command).text, "echo 1");
    EXPECT_FALSE(step.reuse) << "each task runs";
    EXPECT_EQ(file->steps[i].code_dir, "src");
  }
  EXPECT_EQ(file->code_dir, std::nullopt);
  EXPECT_TRUE(validate(pipeline));
}

TEST(Array, ATaskIsNamedAfterItsIndexAndOnlyATaskIs) {
  JobSpec task;
  task.command = ShellCommand{"true"};
  PipelineSpec pipeline = *as_array(task, array_from("1-2").value()).pipeline;
  ASSERT_TRUE(validate(pipeline));
  pipeline.steps[1].name = "3";
  EXPECT_FALSE(validate(pipeline));
  pipeline.steps[1].name = "2";
  pipeline.array = "";
  EXPECT_FALSE(validate(pipeline)) << "a step's name does not begin with a digit";
}

}  // namespace
}  // namespace lockstep
