// What the operator's files promise the service (launcher/api/ports/operator_files.h).

#include "launcher/api/ports/operator_files.h"

#include <gmock/gmock.h>

#include "launcher/daemon/ports/operator_files_on_disk.h"
#include "tests/fakes/api/operator_files.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {
namespace {

// A cluster whose operator wrote down one datastore, one environment and two images; or nothing.
class OperatorFilesContract : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    tools_.spec.definition = HostEnvironment{"python3"};
    docker_.definition = HostEnvironment{"python3.11"};
  }
  void write_down() {
    directory_.file("datastores.yml", "scratch: {directory: /data/scratch}\n");
    directory_.file("environments.map",
                    "tools: {interpreter: python3}\n"
                    "python:latest: {interpreter: python3.11}\n"
                    "library/busybox:latest: none\n");
    spec::Datastore scratch;
    scratch.view.name = "scratch";
    scratch.view.directory = "/data/scratch";
    fake_.stores = Datastores{{scratch}, directory_ / "datastores.yml"};
    fake_.environments["tools"] = tools_;
    fake_.images["python:latest"] = docker_;
    fake_.images["library/busybox:latest"] = std::nullopt;
  }
  const OperatorFiles& files() const {
    if (GetParam()) return on_disk_;
    return fake_;
  }

  const test::TempDir directory_;
  RegisteredEnvironment tools_;
  EnvironmentSpec docker_;
  test::FakeOperatorFiles fake_;
  const OperatorFilesOnDisk on_disk_{
      {directory_ / "datastores.yml", "", directory_ / "environments.map"}};
};

INSTANTIATE_TEST_SUITE_P(Of, OperatorFilesContract, testing::Bool(),
                         [](const auto& of) { return std::string(of.param ? "Disk" : "TheFake"); });

TEST_P(OperatorFilesContract, WithoutFilesThereIsNothing) {
  ASSERT_TRUE(files().datastores());
  EXPECT_TRUE(files().datastores()->stores.empty());
  EXPECT_EQ(*files().find_environment({"tools"}), std::nullopt);
  EXPECT_TRUE(files().find_images({"busybox"})->empty());
}

TEST_P(OperatorFilesContract, SayWhatIsThereNow) {
  write_down();
  const auto stores = files().datastores();
  ASSERT_TRUE(stores) << stores.error().message;
  ASSERT_EQ(stores->stores.size(), 1U);
  EXPECT_EQ(stores->stores[0].view.name, "scratch");
  EXPECT_EQ(stores->stores[0].view.directory, "/data/scratch");
  EXPECT_EQ(stores->file, directory_ / "datastores.yml");
}

TEST_P(OperatorFilesContract, TheFirstKeyThatIsThereCounts) {
  write_down();
  EXPECT_EQ(*files().find_environment({"nothing"}), std::nullopt);
  const auto found = files().find_environment({"nothing", "tools"});
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->spec.definition, tools_.spec.definition);
}

TEST_P(OperatorFilesContract, ImagesAreTheSameUnderAllTheirNames) {
  write_down();
  const auto found = files().find_images({"python", "docker.io/library/busybox", "debian:12"});
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 2U);
  EXPECT_EQ(found->at("python")->definition, docker_.definition);
  EXPECT_EQ(found->at("docker.io/library/busybox"), std::nullopt);
}

}  // namespace
}  // namespace lockstep::launcher
