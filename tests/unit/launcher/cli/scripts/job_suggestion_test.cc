#include "launcher/cli/scripts/job_suggestion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/cli/text/differences/job_difference.h"
#include "launcher/files/job_file.h"

namespace lockstep::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Names = std::vector<std::string>;

TEST(JobSuggestion, FindsTheScript) {
  EXPECT_EQ(likely_script({"README.md", "train.py", "util.py"}), "train.py");
  EXPECT_EQ(likely_script({"fit.py", "setup.py"}), "fit.py");
  EXPECT_EQ(likely_script({"go.sh"}), "go.sh");
  EXPECT_EQ(likely_script({"a.py", "b.py"}), std::nullopt);
  EXPECT_EQ(likely_script({}), std::nullopt);
}

TEST(JobSuggestion, FindsTheScriptBelowTheFolder) {
  EXPECT_EQ(likely_script({"README.md", "src/train.py", "src/util.py"}), "src/train.py");
  EXPECT_EQ(likely_script({"setup.py", "pkg/__init__.py", "pkg/cli/main.py"}), "pkg/cli/main.py");
  EXPECT_EQ(likely_script({"fit.py", "src/train.py"}), "fit.py") << "the nearest";
  EXPECT_EQ(likely_script({"a/train.py", "b/train.py"}), std::nullopt);
  EXPECT_THAT(possible_scripts({"a/train.py", "b.sh", "setup.py"}),
              ElementsAre("b.sh", "a/train.py"));
}

TEST(JobSuggestion, RunsAScriptBelowTheFolderAsItIs) {
  ScriptFolder folder{"p", "src/train.py", "", {"src/requirements.txt", "src/train.py"}};
  EXPECT_THAT(suggested_job(folder), HasSubstr("python3 src/train.py"));
  EXPECT_THAT(suggested_job(folder), HasSubstr("requirements: src/requirements.txt"));
  folder.others = {"requirements.txt", "src/train.py"};
  EXPECT_THAT(suggested_job(folder), HasSubstr("requirements: requirements.txt"));
}

TEST(JobSuggestion, ReadsOptionsOfArgparse) {
  const ScriptLook look = look_at(
      "p.add_argument('--lr', type=float,\n               default=1e-3)  # rate\n"
      "p.add_argument(\"-e\", \"--epochs\", default = 3)\n"
      "p.add_argument('--out', default='a b', help='(where, to)')\n"
      "p.add_argument('--data', required=True)\n"
      "p.add_argument('--fast', action='store_true', default=False)\n"
      "p.add_argument('--when', default=time.time())\n"
      "p.add_argument('--local-rank', default=0)\n"
      "# p.add_argument('--old', default=1)\n"
      "p.add_argument('file')\n"
      "p.add_argument('more', nargs='*')\n");
  EXPECT_THAT(look.options, ElementsAre(ScriptOption{"--lr", "1e-3"}, ScriptOption{"--epochs", "3"},
                                        ScriptOption{"--out", "\"a b\""},
                                        ScriptOption{"--data", ""}, ScriptOption{"file", ""}));
}

TEST(JobSuggestion, ReadsWhatItImports) {
  EXPECT_TRUE(look_at("import torch.distributed as dist\n").uses_torch_distributed);
  EXPECT_TRUE(
      look_at("from torch.nn.parallel import DistributedDataParallel\n").uses_torch_distributed);
  EXPECT_FALSE(look_at("# import torch.distributed\n").uses_torch_distributed);
  EXPECT_TRUE(look_at("from mpi4py import MPI\n").uses_mpi);
  EXPECT_TRUE(look_at("x = x.to('cuda')\n").uses_gpu);
  EXPECT_FALSE(look_at("print(1)\n").uses_gpu);
}

TEST(JobSuggestion, EachIsAValidJob) {
  const std::vector<std::string> texts{
      "",
      "import torch.distributed\n.cuda\n",
      "import mpi4py\n",
      "add_argument('--a-b', default=\"it's: #1 \xc3\xa9\")\nadd_argument('--n', required=True)\n",
      "add_argument('data')\nadd_argument(\"n\", type=int)\n",
      "add_argument(",
      std::string("\xff\xfe\0(", 4)};
  const std::vector<Names> folders{{}, {"requirements.txt"}, {"environment.yml"}};
  const spec::ReadText read = [](const std::string& path) -> Result<std::string> {
    return path.ends_with(".txt") ? std::string("six\n")
                                  : std::string("channels: [c]\ndependencies: [python=3.11]\n");
  };
  for (const std::string& text : texts)
    for (const Names& others : folders)
      for (const char* script : {"train.py", "run.sh"}) {
        const std::string job = suggested_job({"my_job", script, text, others});
        const auto parsed = spec::parse_job("job.yml", job, {}, read);
        EXPECT_TRUE(parsed) << parsed.error().message << "\n" << job;
      }
}

TEST(JobDifference, NamesFieldsAndFiles) {
  JobView a, b;
  a.spec.name = "a";
  b.spec.name = "b";
  a.spec.environment_variables = {{"LR", "1"}, {"SAME", "x"}};
  b.spec.environment_variables = {{"LR", "2"}, {"SAME", "x"}, {"NEW", "y"}};
  b.status = JobStatus::failed;
  Names keys;
  for (const FieldDifference& field : differences_of(a, b)) keys.push_back(field.key);
  EXPECT_THAT(
      keys, ElementsAre("environment_variables.LR", "environment_variables.NEW", "results.status"));
  EXPECT_TRUE(differences_of(a, a).empty());
  LeftFile same{"code/same", {}}, old{"code/old", {}}, fresh{"code/new", {}};
  LeftFile before{"code/train.py", {}}, after = before;
  after.entry.size = 1;
  const CodeDifference code =
      differences_of(std::vector{old, same, before}, std::vector{fresh, same, after});
  EXPECT_THAT(code.added, ElementsAre("code/new"));
  EXPECT_THAT(code.removed, ElementsAre("code/old"));
  EXPECT_THAT(code.changed, ElementsAre("code/train.py"));
}

}  // namespace
}  // namespace lockstep::cli
