#include "launcher/cli/distribution_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "launcher/cli/called_programs.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const std::map<std::string, std::string> kFiles = {
    {"ring.py", "from mpi4py import MPI\n"},
    {"ddp.py", "import torch.distributed as dist\ndist.init_process_group('gloo')\n"},
    {"own.py", "import os\nrank = os.environ['LOCKSTEP_RANK']\nfrom mpi4py import MPI\n"},
    {"plain.py", "print('hello')  # mpi4py\n"},
    {"hello", std::string("\x7f"
                          "ELF\0\0libmpi.so.40\0",
                          20)},
    {"tool", std::string("\x7f"
                         "ELF\0\0libc.so.6\0",
                         17)},
};

std::optional<std::string> read(const std::string& path) {
  const auto found = kFiles.find(path);
  return found == kFiles.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> notes(Command command, int nodes = 1, int ranks = 2,
                               Distribution::Kind kind = Distribution::Kind::none) {
  JobSpec spec;
  spec.command = std::move(command);
  spec.resources.instance_count = nodes;
  spec.distribution.kind = kind;
  spec.distribution.processes_per_node = ranks;
  return distribution_notes(spec, read);
}

TEST(DistributionNotes, RanksThatWouldNotKnowOfEachOther) {
  const std::string mpi =
      "ring.py uses MPI, but its 2 ranks know nothing of each other: each will be rank 0 of 1; add "
      "--distribution mpi (distribution.type: mpi in a job file)";
  EXPECT_THAT(notes(Argv{{"python3", "ring.py"}}), ElementsAre(mpi));
  EXPECT_THAT(notes(ShellCommand{"cd . && python3 ring.py --n 3"}), ElementsAre(mpi));
  EXPECT_THAT(notes(Argv{{"bash", "-c", "exec python3 ring.py"}}), ElementsAre(mpi));
  EXPECT_THAT(notes(Argv{{"./hello"}}, 2, 1), IsEmpty()) << "there is no ./hello here";
  EXPECT_THAT(notes(Argv{{"hello"}}, 2, 1), ElementsAre(StartsWith("hello uses MPI, but its 2")));
  EXPECT_THAT(notes(Argv{{"python3", "ddp.py"}}, 2, 2),
              ElementsAre(StartsWith("ddp.py uses torch.distributed, but its 4 ranks")));
}

TEST(DistributionNotes, NothingWhereNothingIsMissing) {
  EXPECT_THAT(notes(Argv{{"python3", "ring.py"}}, 1, 1), IsEmpty());
  EXPECT_THAT(notes(Argv{{"python3", "ring.py"}}, 2, 2, Distribution::Kind::mpi), IsEmpty());
  EXPECT_THAT(notes(Argv{{"python3", "ddp.py"}}, 2, 2, Distribution::Kind::pytorch), IsEmpty());
  for (const char* file : {"own.py", "plain.py", "tool", "absent.py"})
    EXPECT_THAT(notes(Argv{{"python3", file}}), IsEmpty()) << file;
  EXPECT_THAT(notes(Argv{{"echo", "mpirun"}}), IsEmpty());
  EXPECT_THAT(notes(Argv{{"bash", "-c", "# mpirun ./a\necho srun"}}), IsEmpty());
}

TEST(DistributionNotes, ProgramsThatStartRanksThemselves) {
  for (const int ranks : {1, 2})
    EXPECT_THAT(notes(Argv{{"mpirun", "-n", "4", "./hello"}}, 1, ranks),
                ElementsAre("the command calls `mpirun`, but Lockstep starts the ranks: give the "
                            "number with -N and -n, --distribution mpi (distribution.type: mpi in "
                            "a job file), and the program alone as the command"));
  EXPECT_THAT(notes(Argv{{"/opt/bin/mpiexec", "./hello"}}),
              ElementsAre(StartsWith("the command calls `mpiexec`")));
  EXPECT_THAT(notes(ShellCommand{"cd src; srun python3 x.py"}),
              ElementsAre(StartsWith("the command calls `srun`")));
  JobSpec sbatch;
  sbatch.command = ShellCommand{"srun python3 x.py"};
  EXPECT_THAT(distribution_notes(sbatch, read, true), IsEmpty()) << "its own lines say it";
  const Command torchrun = Argv{{"torchrun", "--nproc-per-node=4", "ddp.py"}};
  EXPECT_THAT(notes(torchrun, 1, 1), IsEmpty()) << "it starts its own ranks on one node";
  EXPECT_THAT(notes(torchrun, 2, 1, Distribution::Kind::pytorch), IsEmpty());
  EXPECT_THAT(notes(torchrun, 2, 1), ElementsAre(StartsWith("the command calls `torchrun`")));
  EXPECT_THAT(notes(torchrun, 2, 4, Distribution::Kind::pytorch),
              ElementsAre(StartsWith("the command calls `torchrun`")));
}

TEST(DistributionNotes, StartersBehindOtherProgramsAreNoticed) {
  for (const Command& command : {Command(Argv{{"env", "-u", "B", "A=1", "mpirun", "./hello"}}),
                                 Command(Argv{{"time", "-p", "mpirun", "./hello"}}),
                                 Command(Argv{{"nice", "-n", "5", "/usr/bin/mpirun", "./hello"}}),
                                 Command(Argv{{"env", "A=1", "bash", "-lc", "cd b; mpirun ./a"}}),
                                 Command(ShellCommand{"cd b\nbash -c \"exec mpirun ./a\""})})
    EXPECT_THAT(notes(command, 1, 1), ElementsAre(StartsWith("the command calls `mpirun`")));
  EXPECT_THAT(notes(Argv{{"env", "A=mpirun", "./hello", "mpirun"}}, 1, 1), IsEmpty());
}

TEST(DistributionNotes, FilesInTheTextOfAShellAreLookedAt) {
  const auto of_ring = ElementsAre(StartsWith("ring.py uses MPI"));
  EXPECT_THAT(notes(Argv{{"env", "A=1", "bash", "-c", "python3 ring.py"}}), of_ring);
  EXPECT_THAT(notes(Argv{{"nice", "python3", "ring.py"}}), of_ring);
}

TEST(DistributionNotes, ASourceMayBeOneFile) {
  const test::TempDir temp;
  const std::string file = temp.path() + "/ring.py";
  std::ofstream(file) << "from mpi4py import MPI\n";
  EXPECT_EQ(source_reader(file)("ring.py"), "from mpi4py import MPI\n");
  EXPECT_EQ(source_reader(file)("./ring.py"), "from mpi4py import MPI\n");
  EXPECT_EQ(source_reader(file)("other.py"), std::nullopt);
  EXPECT_EQ(source_reader(temp.path())("ring.py"), "from mpi4py import MPI\n");
}

TEST(CalledPrograms, OnlyWhereACommandMayBegin) {
  for (const char* line : {"srun x",
                           "  srun",
                           "a; srun x",
                           "a && srun x",
                           "x=$(srun x)",
                           "time srun x",
                           "A=1 B=2 srun x",
                           "/opt/slurm/bin/srun x",
                           "if srun x; then",
                           "\"$(srun x)\"",
                           "`srun x`",
                           "nice srun x",
                           "nice -n 5 srun x",
                           "timeout -k 5 60 srun x",
                           "env -i A=1 srun x",
                           "bash -c 'srun x'",
                           "bash -euo pipefail -c \"cd a && srun x\"",
                           "(cd a; srun x)",
                           "nodes=($(srun x))",
                           "case $A in b) srun x;; esac",
                           "nice \\\n srun x",
                           "a \"b\" | srun x"})
    EXPECT_TRUE(calls(line, "srun")) << line;
  for (const char* line : {"echo srun", "my-srun", "srun.py", "a srun x", "./my/srunner", "x=srun",
                           "\"srun x\"", "", "echo '$(srun x)'", "# srun x", "bash srun x",
                           "bash -c 'echo srun'", "timeout srun x", "echo \\; srun"})
    EXPECT_FALSE(calls(line, "srun")) << line;
}

}  // namespace
}  // namespace lockstep::cli
