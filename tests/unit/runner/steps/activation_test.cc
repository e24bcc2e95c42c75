// What ranks get of their job's environment, through the real runner and the plan that its agent
// wrote.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <sstream>

#include "runner/steps/activate.h"
#include "tests/unit/runner/attempt.h"

namespace lockstep::runner::testing {
namespace {

using Kind = Distribution::Kind;
using Map = std::map<std::string, std::string>;

class ActivationTest : public ::testing::TestWithParam<Kind> {
 protected:
  ActivationTest() {
    attempt_.assignment.spec.distribution.kind = GetParam();
    script("activated/bin/python3", "echo activated python3 $*");
    script("activated/bin/python", "echo activated python");
    script("mine/python3", "echo mine");
    Activation& activation = attempt_.workspace.activation.emplace();
    activation.path = {files_.path() + "/activated/bin", files_.path() + "/beside"};
    activation.variables = {{"VIRTUAL_ENV", files_.path() + "/activated"},
                            {"SHARED", "of the environment"},
                            {"PYTHONUNBUFFERED", "0"}};
  }
  void TearDown() override {
    if (HasFailure()) std::fprintf(stderr, "runner.log:\n%s\n", attempt_.runner_log().c_str());
  }
  void script(const std::string& name, const std::string& text) {
    const std::string path = files_.path() + "/" + name;
    ASSERT_TRUE(io::make_directories(path.substr(0, path.rfind('/'))));
    ASSERT_TRUE(io::write_file_atomically(path, "#!/bin/sh\n" + text + "\n", 0755));
  }
  Map& job() { return attempt_.assignment.spec.environment_variables; }
  std::string output() {
    EXPECT_EQ(attempt_.run(), 0);
    EXPECT_EQ(attempt_.report().cause, Cause::completed);
    return attempt_.out();
  }
  Map environment() {
    attempt_.argv({"/usr/bin/env"});
    Map result;
    std::istringstream in(output());
    for (std::string line; std::getline(in, line);)
      result[line.substr(0, line.find('='))] = line.substr(line.find('=') + 1);
    return result;
  }
  std::string activated_path() const {
    return files_.path() + "/activated/bin:" + files_.path() + "/beside:";
  }

  TemporaryDirectory files_;
  Attempt attempt_;
};

INSTANTIATE_TEST_SUITE_P(With, ActivationTest,
                         ::testing::Values(Kind::none, Kind::pytorch, Kind::mpi),
                         [](const auto& param) {
                           switch (param.param) {
                             case Kind::none: return "None";
                             case Kind::pytorch: return "Pytorch";
                             case Kind::mpi: return "Mpi";
                             case Kind::tensorflow: return "Tensorflow";
                             case Kind::ray: return "Ray";
                           }
                           return "Unknown";
                         });

TEST_P(ActivationTest, ItsFoldersComeFirstAndItsVariablesBelowTheJobsOwn) {
  job()["SHARED"] = "of the job";
  auto seen = environment();
  EXPECT_EQ(seen["PATH"], activated_path() + std::string(kLoginPath));
  EXPECT_EQ(seen["VIRTUAL_ENV"], files_.path() + "/activated");
  EXPECT_EQ(seen["SHARED"], "of the job");
  EXPECT_EQ(seen["PYTHONUNBUFFERED"], "0") << "above what we set";
  EXPECT_EQ(seen["LOCKSTEP_WORLD_SIZE"], "1");
  for (const char* name : {"SECRET_OF_THE_AGENT", "PYTHONHOME", "PYTHONPATH", "CONDA_PREFIX"})
    EXPECT_EQ(seen.count(name), 0U) << name;
}

TEST_P(ActivationTest, TheCommandIsLookedUpThere) {
  attempt_.argv({"python3", "train.py"});
  EXPECT_EQ(output(), "activated python3 train.py\n");
}

TEST_P(ActivationTest, SoIsWhatAShellCalls) {
  attempt_.shell("python; python3 -c pass");
  EXPECT_EQ(output(), "activated python\nactivated python3 -c pass\n");
}

TEST_P(ActivationTest, TheJobsOwnPathWinsWhole) {
  job()["PATH"] = files_.path() + "/mine:/usr/bin:/bin";
  attempt_.argv({"python3"});
  EXPECT_EQ(output(), "mine\n");
}

TEST_P(ActivationTest, WithoutOneNothingIsAdded) {
  attempt_.workspace.activation.reset();
  auto seen = environment();
  EXPECT_EQ(seen["PATH"], kLoginPath);
  EXPECT_EQ(seen["PYTHONUNBUFFERED"], "1");
  for (const char* name : {"VIRTUAL_ENV", "SHARED", "PYTHONHOME", "PYTHONPATH", "CONDA_PREFIX"})
    EXPECT_EQ(seen.count(name), 0U) << name;
}

TEST(Activate, OfNothingIsNothing) {
  Map variables = {{"A", "1"}};
  activate({}, &variables);
  EXPECT_EQ(variables, (Map{{"A", "1"}}));
}

TEST(Activate, APathAmongItsVariablesIsTheRestOfIt) {
  Activation activation;
  activation.path = {"/a/bin"};
  activation.variables = {{"PATH", "/b/bin"}};
  Map variables;
  activate(activation, &variables);
  EXPECT_EQ(variables, (Map{{"PATH", "/a/bin:/b/bin"}}));
  Map own = {{"PATH", "/c"}};
  activate(activation, &own);
  EXPECT_EQ(own, (Map{{"PATH", "/c"}}));
}

}  // namespace
}  // namespace lockstep::runner::testing
