#include "launcher/cli/scripts/distribution_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "launcher/cli/scripts/called_programs.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
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
  EXPECT_THAT(distribution_notes(sbatch, read, "job.sbatch"), IsEmpty()) << "its own lines say it";
  const std::string script = "#!/bin/bash\necho $SLURM_PROCID\n";
  sbatch.command = Argv{{"bash", "-c", script, "job.sbatch"}};
  const ReadSource in_folder = [&](const std::string& path) {
    return path == "job.sbatch" ? std::optional(script) : std::nullopt;
  };
  EXPECT_THAT(distribution_notes(sbatch, in_folder, "job.sbatch"), IsEmpty()) << "not twice";
  const Command torchrun = Argv{{"torchrun", "--nproc-per-node=4", "ddp.py"}};
  EXPECT_THAT(notes(torchrun, 1, 1), IsEmpty()) << "it starts its own ranks on one node";
  EXPECT_THAT(notes(torchrun, 2, 1, Distribution::Kind::pytorch), IsEmpty());
  EXPECT_THAT(notes(torchrun, 2, 1), ElementsAre(StartsWith("the command calls `torchrun`")));
  EXPECT_THAT(notes(torchrun, 2, 4, Distribution::Kind::pytorch),
              ElementsAre(StartsWith("the command calls `torchrun`")));
}

TEST(DistributionNotes, TheSiblingsOfMpirunAndTorchrunAreNoticed) {
  for (const char* program :
       {"mpiexec.hydra", "orterun", "prterun", "horovodrun", "/usr/bin/mpirun"})
    EXPECT_THAT(notes(Argv{{program, "-n", "4", "./hello"}}, 1, 1),
                ElementsAre(HasSubstr("but Lockstep starts the ranks")))
        << program;
  for (const char* line : {"python -m torch.distributed.run ddp.py",
                           "python3.11 -u -m torch.distributed.launch ddp.py",
                           "/usr/bin/python3 -W ignore -m torch.distributed.run ddp.py",
                           "accelerate launch ddp.py", "exec deepspeed ddp.py"}) {
    EXPECT_THAT(notes(ShellCommand{line}, 2, 1),
                ElementsAre(HasSubstr("write `python3 SCRIPT` with --distribution pytorch")))
        << line;
    EXPECT_THAT(notes(ShellCommand{line}, 1, 1), IsEmpty()) << line;
  }
  for (const char* line :
       {"accelerate config", "python -m torch.distributed", "python x.py -m deepspeed",
        "pythonic -m torch.distributed.run", "echo deepspeed"})
    EXPECT_THAT(notes(ShellCommand{line}, 2, 1), IsEmpty()) << line;
}

TEST(DistributionNotes, ScriptsThatTheCommandNamesAreLookedAt) {
  const std::map<std::string, std::string> scripts = {
      {"job.sh", "cd src\nscontrol show hostnames $SLURM_JOB_NODELIST\n/usr/bin/mpirun ./hello\n"},
      {"torch", "#!/usr/bin/env bash\nset -e\ntorchrun --nproc-per-node 4 x.py\n"},
      {"ours.sh", "srun true || echo $LOCKSTEP_RANK\n"},
      {"text", "srun true\n"}};
  const ReadSource from = [&](const std::string& path) -> std::optional<std::string> {
    const auto found = scripts.find(path);
    return found == scripts.end() ? std::nullopt : std::optional(found->second);
  };
  const auto said = [&](Command command) {
    JobSpec spec;
    spec.command = std::move(command);
    spec.resources.instance_count = 2;
    return distribution_notes(spec, from);
  };
  EXPECT_THAT(said(Argv{{"bash", "job.sh"}}),
              ElementsAre(AllOf(StartsWith("job.sh:2: "), HasSubstr("AZ_BATCH_HOST_LIST")),
                          StartsWith("job.sh:2: SLURM_JOB_NODELIST is not set"),
                          AllOf(StartsWith("job.sh:3: "), HasSubstr("`mpirun` must go"))));
  EXPECT_THAT(said(ShellCommand{"./run; bash torch"}),
              ElementsAre(StartsWith("torch calls `torchrun`, but Lockstep starts the ranks")));
  EXPECT_THAT(said(Argv{{"bash", "ours.sh"}}), IsEmpty());
  EXPECT_THAT(said(Argv{{"cat", "text"}}), IsEmpty());
}

TEST(DistributionNotes, SlurmsProgramsAndVariablesInTheCommandAreNamed) {
  EXPECT_THAT(notes(ShellCommand{"MASTER=$(scontrol show hostnames | head -1); ./x"}, 1, 1),
              ElementsAre(AllOf(StartsWith("the command calls `scontrol`, but there is no"),
                                HasSubstr("AZ_BATCH_HOST_LIST"))));
  EXPECT_THAT(notes(Argv{{"bash", "-c", "echo $SLURM_PROCID ${SLURM_PROCID}"}}, 1, 1),
              ElementsAre("SLURM_PROCID is not set; use LOCKSTEP_RANK"));
  EXPECT_THAT(notes(Argv{{"echo", "scontrol"}}, 1, 1), IsEmpty());
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
