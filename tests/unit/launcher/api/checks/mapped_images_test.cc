// Images that the operator's map has: what becomes of a submission, and what people are told.

#include "launcher/api/checks/mapped_images.h"

#include <gmock/gmock.h>

#include "common/domain/job/image_replacement.h"
#include "common/domain/job/pipeline.h"

namespace lockstep::launcher {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

JobSpec with_image(const std::string& image) {
  JobSpec spec;
  spec.environment = EnvironmentSpec{"pictures", "2", DockerEnvironment{image, {}, {}}};
  return spec;
}

Status replace(JobSpec& spec, std::optional<EnvironmentSpec> target) {
  return replace_images(spec, [&](const std::set<std::string>& images) {
    spec::MappedImages mapped;
    if (images.count("python") != 0) mapped["python"] = target;
    return Result<spec::MappedImages>(std::move(mapped));
  });
}

const EnvironmentSpec kVenv{"sci", "3", VenvEnvironment{"python3", {}, {"six"}, {}}};

TEST(ImageReplacement, TheJobRunsInTheTargetAndKeepsWhatItAskedFor) {
  JobSpec spec = with_image("python");
  const auto asked = spec.environment;
  ASSERT_TRUE(replace(spec, kVenv));
  EXPECT_EQ(spec.environment, kVenv);
  EXPECT_EQ(spec.replaced_environment, asked);
  EXPECT_FALSE(spec.in_container()) << "nodes without an engine can run it";
  EXPECT_THAT(image_replacement_lines(spec),
              ElementsAre("image 'python' runs in environment sci:3 instead, by the operator's "
                          "environments.map"));
}

TEST(ImageReplacement, OtherImagesStayAndAClientCannotClaimOne) {
  JobSpec spec = with_image("debian:12");
  spec.replaced_environment = kVenv;
  const auto asked = spec.environment;
  ASSERT_TRUE(replace(spec, kVenv));
  EXPECT_EQ(spec.environment, asked);
  EXPECT_FALSE(spec.replaced_environment);
  EXPECT_THAT(image_replacement_lines(spec), IsEmpty());
  JobSpec plain;
  plain.replaced_environment = kVenv;
  ASSERT_TRUE(replace_images(plain, [](const auto&) -> Result<spec::MappedImages> {
    return make_error(ErrorCode::internal, "the map is read although there is no image");
  }));
  EXPECT_FALSE(plain.replaced_environment);
}

TEST(ImageReplacement, KeysOfContainersAreNamed) {
  JobSpec spec = with_image("python");
  spec.resources.docker_args = {"--ipc", "host"};
  spec.resources.shm_size = gibibytes(1);
  ASSERT_TRUE(replace(spec, std::nullopt));
  EXPECT_FALSE(spec.environment);
  EXPECT_THAT(image_replacement_lines(spec),
              ElementsAre("image 'python' runs in each node's PATH instead, by the operator's "
                          "environments.map",
                          "resources.docker_args is ignored: this job does not run in a container",
                          "resources.shm_size is ignored: this job does not run in a container"));
  spec.environment = EnvironmentSpec{"", "", DockerEnvironment{"r.io/python", {}, {}}};
  EXPECT_THAT(image_replacement_lines(spec),
              ElementsAre("image 'python' runs in image 'r.io/python' instead, by the operator's "
                          "environments.map"));
}

TEST(ImageReplacement, PackagesOnAnImageNeedAnImage) {
  JobSpec spec = with_image("python");
  CondaEnvironment packages;
  packages.dependencies = {"numpy"};
  std::get<DockerEnvironment>(spec.environment->definition).conda = packages;
  JobSpec mirrored = spec;
  const Status refused = replace(spec, kVenv);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "environment.conda_file: cannot be installed on image 'python', because the operator's "
            "environments.map has jobs with this image run in an environment instead; leave "
            "'image' out to have the packages without a container, or leave 'conda_file' out");
  ASSERT_TRUE(replace(mirrored, EnvironmentSpec{"", "", DockerEnvironment{"r.io/python", {}, {}}}));
  EXPECT_EQ(mirrored.environment->definition,
            EnvironmentDefinition(DockerEnvironment{"r.io/python", {}, packages}));
}

TEST(ImageReplacement, StepsOfAPipelineAreLookedAtToo) {
  PipelineSpec pipeline;
  for (const char* name : {"a", "b", "c"}) {
    PipelineStep step;
    step.name = name;
    step.spec = with_image(std::string(name) == "c" ? "debian:12" : "python");
    pipeline.steps.push_back(std::move(step));
  }
  JobSpec spec;
  spec.pipeline = pipeline;
  ASSERT_TRUE(replace(spec, kVenv));
  EXPECT_EQ(spec.pipeline->steps[0].spec.environment, kVenv);
  EXPECT_TRUE(spec.pipeline->steps[1].spec.replaced_environment);
  EXPECT_TRUE(spec.pipeline->steps[2].spec.in_container());
  EXPECT_EQ(image_replacement_lines(spec).size(), 1u) << "the same line once";
  CondaEnvironment packages;
  std::get<DockerEnvironment>(pipeline.steps[1].spec.environment->definition).conda = packages;
  spec.pipeline = pipeline;
  const Status refused = replace(spec, kVenv);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, testing::StartsWith("jobs.b.environment.conda_file: "));
}

TEST(ImageReplacement, AMapThatIsWrongRefusesTheSubmission) {
  JobSpec spec = with_image("python");
  const Status refused = replace_images(spec, [](const auto&) -> Result<spec::MappedImages> {
    return make_error(ErrorCode::invalid_argument, "environments.map:1:1: is wrong");
  });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "environments.map:1:1: is wrong");
  EXPECT_TRUE(spec.in_container());
}

}  // namespace
}  // namespace lockstep::launcher
