#include "launcher/cli/job/left_behind.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <map>
#include <set>

namespace lockstep::cli {
namespace {

using testing::HasSubstr;

struct FakeShell {
  std::map<std::string, std::string> variables;
  std::set<std::string> executables;
  Shell shell() const {
    return {[this](const char* name) {
              const auto found = variables.find(name);
              return found == variables.end() ? std::string() : found->second;
            },
            [this](const std::string& path) { return executables.count(path) != 0; }};
  }
};

JobSpec command(std::vector<std::string> words) {
  JobSpec spec;
  spec.command = Argv{std::move(words)};
  return spec;
}

TEST(PythonLeftBehind, NamesTheInterpreterThatIsUsedAndTheWayToTheOther) {
  const FakeShell fake{
      {{"VIRTUAL_ENV", "/home/ada/my venv"}, {"CONDA_PREFIX", "/opt/conda"}},
      {"/usr/bin/python3", "/home/ada/my venv/bin/python", "/opt/conda/bin/python"}};
  EXPECT_EQ(python_left_behind(command({"python3", "train.py"}), fake.shell()),
            "note: the job does not use the Python environment that is active in this shell; the "
            "job's `python3` is /usr/bin/python3. To use that environment: --interpreter "
            "'/home/ada/my venv/bin/python'");
  EXPECT_THAT(python_left_behind(command({"python", "train.py"}), fake.shell()),
              HasSubstr("there is no `python` on the job's PATH"));
}

TEST(PythonLeftBehind, CondasIsOfferedToo) {
  const FakeShell fake{{{"CONDA_PREFIX", "/opt/conda"}}, {"/opt/conda/bin/python"}};
  EXPECT_THAT(python_left_behind(command({"python3.11"}), fake.shell()),
              HasSubstr("--interpreter /opt/conda/bin/python"));
}

TEST(PythonLeftBehind, SaysNothingWhereNothingIsLeft) {
  FakeShell fake{{{"VIRTUAL_ENV", "/v"}}, {"/v/bin/python"}};
  ASSERT_NE(python_left_behind(command({"python"}), fake.shell()), "");
  for (const char* word : {"./python", "/v/bin/python", "pythonic", "hostname"})
    EXPECT_EQ(python_left_behind(command({word}), fake.shell()), "") << word;
  JobSpec with_path = command({"python"});
  with_path.environment_variables["PATH"] = "/v/bin";
  EXPECT_EQ(python_left_behind(with_path, fake.shell()), "");
  fake.executables.clear();
  EXPECT_EQ(python_left_behind(command({"python"}), fake.shell()), "") << "it has no Python";
  EXPECT_EQ(python_left_behind(command({"python"}), FakeShell{}.shell()), "") << "none is active";
}

TEST(InputLeftBehind, IsSaidOfPipesAndOfFilesThatHoldSomething) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_THAT(input_left_behind(ends[0]), HasSubstr("the job does not get standard input"))
      << "open";
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  ::close(ends[1]);
  EXPECT_NE(input_left_behind(ends[0]), "") << "with something to read";
  char byte = 0;
  ASSERT_EQ(::read(ends[0], &byte, 1), 1);
  EXPECT_EQ(input_left_behind(ends[0]), "") << "at its end";
  ::close(ends[0]);

  char path[] = "/tmp/left_behind_XXXXXX";
  const int file = ::mkstemp(path);
  ASSERT_GE(file, 0);
  ::unlink(path);
  EXPECT_EQ(input_left_behind(file), "") << "an empty file";
  ASSERT_EQ(::write(file, "x", 1), 1);
  EXPECT_EQ(input_left_behind(file), "") << "read to its end";
  ASSERT_EQ(::lseek(file, 0, SEEK_SET), 0);
  EXPECT_NE(input_left_behind(file), "");
  ::close(file);
}

TEST(InputLeftBehind, IsNotSaidOfNothing) {
  const int nothing = ::open("/dev/null", O_RDONLY);
  EXPECT_EQ(input_left_behind(nothing), "");
  ::close(nothing);
  EXPECT_EQ(input_left_behind(-1), "") << "closed";
}

}  // namespace
}  // namespace lockstep::cli
