#include "launcher/cli/sbatch/batch_script.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "launcher/cli/sbatch/begin_time.h"

namespace lockstep::cli {
namespace {

struct Applied {
  RunArguments arguments;
  std::vector<std::string> notes;
};

Applied apply(const std::string& lines, RunArguments arguments = {}) {
  const auto notes = apply_sbatch("t.sh", "#!/bin/bash\n" + lines + "echo hi\n", arguments);
  EXPECT_TRUE(notes) << notes.error().message;
  return {arguments, notes ? *notes : std::vector<std::string>()};
}

std::string refusal(const std::string& text) {
  RunArguments arguments;
  const auto notes = apply_sbatch("t.sh", text, arguments);
  return notes ? "" : notes.error().message;
}

TEST(Sbatch, TakesWhatHasAMeaningHere) {
  const auto [a, notes] = apply(
      "#SBATCH --job-name=night --nodes=2\n"
      "#SBATCH -n 8 --cpus-per-task=4   # four each\n"
      "\n"
      "# a comment\n"
      "##SBATCH --time=1\n"
      "#SBATCH --mem=16G --gres=gpu:2\n"
      "#SBATCH -t 1-02:03:04\n"
      "#SBATCH -p gpu-cluster --no-requeue --exclusive\n"
      "#SBATCH --export=NONE,SEED=7 --dependency=afterok:prep:clean,afterany:old\n");
  EXPECT_TRUE(notes.empty()) << notes.front();
  EXPECT_EQ(a.display_name, "night");
  EXPECT_EQ(a.nodes, 2);
  EXPECT_EQ(a.ranks, 4);
  EXPECT_EQ(a.cpus, 16);
  EXPECT_EQ(a.memory, "17179869184");
  EXPECT_EQ(a.gpus, 2);
  EXPECT_EQ(a.timeout, "93784s");
  EXPECT_EQ(a.compute, "gpu-cluster");
  EXPECT_EQ(a.retry, 0);
  EXPECT_TRUE(a.isolated);
  EXPECT_EQ(a.env, std::vector<std::string>{"SEED=7"});
  EXPECT_EQ(a.after, (std::vector<std::string>{"prep", "clean", "old:ended"}));
  ASSERT_EQ(a.command.size(), 4u);
  EXPECT_EQ(a.command[0], "bash");
  EXPECT_EQ(a.command[1], "-c");
  EXPECT_EQ(a.command[3], "t.sh");
}

TEST(Sbatch, OfExportItSaysWhatIsUsedAndWhatIsNot) {
  const auto [both, said] = apply("#SBATCH --export=ALL,FOO=1,HOME\n");
  EXPECT_EQ(both.env, (std::vector<std::string>{"FOO=1", "HOME"}));
  EXPECT_EQ(said, std::vector<std::string>{
                      "t.sh:2: #SBATCH --export: the job gets FOO, HOME; 'ALL' is not used, so it "
                      "gets no other variables of this shell; name what it needs with --env NAME"});
  const auto [all, notes] = apply("#SBATCH --export=ALL\n");
  EXPECT_TRUE(all.env.empty());
  EXPECT_EQ(notes, std::vector<std::string>{
                       "t.sh:2: #SBATCH --export is not used: the job gets no variables of this "
                       "shell; name what it needs with --env NAME"});
}

TEST(Sbatch, OptionsOfTheCommandLineWin) {
  RunArguments given;
  given.nodes = 4;
  given.ranks = 1;
  given.timeout = "5m";
  given.command = {"a", "b c"};
  const auto [a, notes] = apply("#SBATCH -N2 --ntasks-per-node=8 -t 90\n", given);
  EXPECT_EQ(a.nodes, 4);
  EXPECT_EQ(a.ranks, 1);
  EXPECT_EQ(a.timeout, "5m");
  EXPECT_EQ(a.command.back(), "b c");
}

TEST(Sbatch, TheNumbersFollowFromEachOther) {
  EXPECT_EQ(apply("#SBATCH -n 8 --ntasks-per-node=4\n").arguments.nodes, 2);
  EXPECT_EQ(apply("#SBATCH -n 8\n").arguments.ranks, 8);
  EXPECT_EQ(apply("#SBATCH -N 2 -G 8\n").arguments.gpus, 4);
  EXPECT_EQ(apply("#SBATCH -n 4 --gpus-per-task=1\n").arguments.gpus, 4);
  EXPECT_EQ(apply("#SBATCH -n 2 -c 2 --mem-per-cpu=1000\n").arguments.memory, "4194304000");
  EXPECT_EQ(apply("#SBATCH -t 90\n").arguments.timeout, "5400s");
  EXPECT_EQ(apply("#SBATCH -t 2-12\n").arguments.timeout, "216000s");
}

TEST(Sbatch, NamesWhatIsNotUsed) {
  const auto notes = apply(
                         "#SBATCH --output=%j.out\n"
                         "#SBATCH --frobnicate=1\n"
                         "#SBATCH --gres=gpu:a100:2\n"
                         "srun ./train\n"
                         "#SBATCH --array=1-3\n")
                         .notes;
  ASSERT_EQ(notes.size(), 4u);
  EXPECT_EQ(notes[0],
            "t.sh:2: #SBATCH --output is not used: the output of each rank is kept with the job; "
            "`lockstep job logs NAME` shows it");
  EXPECT_EQ(notes[1], "t.sh:3: #SBATCH --frobnicate is not used: Lockstep does not know it");
  EXPECT_EQ(notes[2],
            "t.sh:4: the GPUs' type a100 is not used: name labels of nodes with --label KEY=VALUE");
  EXPECT_EQ(notes[3].rfind("t.sh:5: the script runs once for each rank, so `srun` must go", 0), 0u);
}

TEST(Sbatch, ASignalComesBeforeTheTimeLimit) {
  const auto [a, notes] = apply("#SBATCH --signal=B:USR1@120 --time=10\n");
  EXPECT_EQ(a.signal, "USR1@120");
  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(apply("#SBATCH --signal=SIGUSR2 -t 10\n").arguments.signal, "SIGUSR2");
  const auto [none, said] = apply("#SBATCH --signal=USR1@60\n");
  EXPECT_EQ(none.signal, "");
  EXPECT_EQ(said,
            std::vector<std::string>{
                "t.sh:2: #SBATCH --signal is not used: it comes before the end of --time, and "
                "the script has none"});
  EXPECT_EQ(
      refusal("#!/bin/bash\n#SBATCH --signal=KILL@60 -t 10\n")
          .rfind("t.sh:2: #SBATCH --signal: 'KILL' is not a signal that can be sent; write USR1, ",
                 0),
      0u);
}

// A script that is warned is one that goes on later.
TEST(Sbatch, RequeuesAtTheTimeLimitIfTheScriptIsWarned) {
  const auto [a, notes] = apply("#SBATCH --requeue -t 10\n#SBATCH --signal=B:USR1@60\n");
  EXPECT_EQ(a.retry_on, "infrastructure,timeout");
  EXPECT_EQ(notes, std::vector<std::string>{
                       "t.sh:2: #SBATCH --requeue: the job is tried again when its time is over, "
                       "too, at most 3 times (--retry-on infrastructure,timeout; --retry)"});
  const auto [b, told] = apply("#SBATCH --requeue -t 10\n");
  EXPECT_EQ(b.retry_on, "");
  EXPECT_EQ(told, std::vector<std::string>{
                      "t.sh:2: #SBATCH --requeue: the job is tried again if a node is lost; for "
                      "another try when its time is over, add --retry-on infrastructure,timeout"});
  EXPECT_TRUE(apply("#SBATCH --requeue\n").notes.empty());
  RunArguments given;
  given.retry_on = "75";
  EXPECT_EQ(apply("#SBATCH --requeue -t 10 --signal=USR1@60\n", given).arguments.retry_on, "75");
}

TEST(Sbatch, OfSeveralPartitionsTheFirst) {
  const auto [a, notes] = apply("#SBATCH --partition=gpu,long\n");
  EXPECT_EQ(a.compute, "gpu");
  EXPECT_EQ(notes, std::vector<std::string>{
                       "t.sh:2: #SBATCH --partition gpu,long: the job goes to the target gpu; for "
                       "another one, --compute NAME"});
  RunArguments given;
  given.compute = "mine";
  EXPECT_TRUE(apply("#SBATCH -p gpu,long\n", given).notes.empty());
}

TEST(Sbatch, BeginsWhenSlurmWould) {
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  const std::time_t now = 1'795'600'800;  // 2026-11-25T10:00:00Z
  const auto begin = [&](const std::string& text) {
    return begin_of_sbatch(text, now).value_or("?");
  };
  EXPECT_EQ(begin("now"), "0s");
  EXPECT_EQ(begin("now+1hour"), "3600s");
  EXPECT_EQ(begin("now+60"), "60s");
  EXPECT_EQ(begin("now+3days"), "259200s");
  EXPECT_EQ(begin("now+2minutes"), "120s");
  EXPECT_EQ(begin("16:00"), "2026-11-25T16:00:00Z");
  EXPECT_EQ(begin("9:30:15"), "2026-11-26T09:30:15Z");
  EXPECT_EQ(begin("midnight"), "2026-11-26T00:00:00Z");
  EXPECT_EQ(begin("noon"), "2026-11-25T12:00:00Z");
  EXPECT_EQ(begin("2026-11-26"), "2026-11-26T00:00:00Z");
  EXPECT_EQ(begin("2026-11-26T18:00"), "2026-11-26T18:00:00Z");
  EXPECT_EQ(begin("2026-11-26T18:00:05"), "2026-11-26T18:00:05Z");
  EXPECT_EQ(begin("tomorrow"), "86400s");
  for (const char* wrong : {"", "now+", "now+x", "now-1hour", "25:00", "16", "2026-13-01",
                            "2026-11-26T", "2026-11-26T18", "16:00x", "now+1fortnight"})
    EXPECT_EQ(begin(wrong), "?") << wrong;
  EXPECT_EQ(apply("#SBATCH --begin=now+1hour\n").arguments.begin, "3600s");
  EXPECT_EQ(refusal("#!/bin/bash\n#SBATCH --begin=teatime\n"),
            "t.sh:2: #SBATCH --begin: 'teatime' is not a time, such as now+1hour, 16:00 or "
            "2026-11-26T18:00:00");
}

TEST(Sbatch, SaysWhatStandsForSlurmsPrograms) {
  const auto notes = apply(
                         "# scontrol in a comment\n"
                         "nodes=$(scontrol show hostnames $SLURM_JOB_NODELIST)\n"
                         "echo \"srun is a word here\" and srun here\n"
                         "if [ $x ]; then OMP_NUM_THREADS=4 time srun ./train; fi\n"
                         "/usr/bin/scontrol requeue $id; mpirun ./a\n"
                         "my-srun x; ./srun.py; scancelled\n")
                         .notes;
  ASSERT_EQ(notes.size(), 3u);
  EXPECT_EQ(notes[0].rfind("t.sh:3: there is no `scontrol` here: AZ_BATCH_HOST_LIST has", 0), 0u);
  EXPECT_EQ(notes[1],
            "t.sh:3: SLURM_JOB_NODELIST is not set; use AZ_BATCH_HOST_LIST, which has addresses "
            "with commas between them");
  EXPECT_EQ(notes[2].rfind("t.sh:5: the script runs once for each rank, so `srun` must go", 0), 0u);
}

TEST(Sbatch, TakesAnArray) {
  EXPECT_EQ(apply("#SBATCH --array=0-19%4\n").arguments.array, "0-19%4");
  RunArguments given;
  given.array = "7";
  EXPECT_EQ(apply("#SBATCH -a 0-19\n", given).arguments.array, "7");
}

// Else they would be empty words in the script, and nobody is told.
TEST(Sbatch, NamesSlurmsVariablesOfTheScript) {
  const auto notes =
      apply(
          "# SLURM_JOB_ID in a comment\n"
          "python3 train.py --seed $SLURM_ARRAY_TASK_ID --of ${SLURM_ARRAY_TASK_COUNT}\n"
          "echo $SLURM_ARRAY_TASK_ID $MY_SLURM_PROCID \"$SLURM_CLUSTER_NAME\"\n")
          .notes;
  EXPECT_EQ(notes, (std::vector<std::string>{
                       "t.sh:3: SLURM_ARRAY_TASK_ID is not set; use LOCKSTEP_ARRAY_INDEX",
                       "t.sh:3: SLURM_ARRAY_TASK_COUNT is not set; use LOCKSTEP_ARRAY_COUNT",
                       "t.sh:4: SLURM_CLUSTER_NAME is not set"}));
}

TEST(Sbatch, RefusesNumbersThatDoNotFit) {
  const auto with = [](const std::string& lines) { return refusal("#!/bin/bash\n" + lines); };
  EXPECT_EQ(with("#SBATCH --cpus-per-task=1073741825 --ntasks-per-node=4\n"),
            "t.sh: --cpus-per-task of all ranks of a node is too large a number");
  EXPECT_EQ(with("#SBATCH -n 5 -N 2 --tasks-per-node=4\n"),
            "t.sh: --ntasks=5 is not --nodes=2 times --ntasks-per-node=4");
  EXPECT_EQ(with("#SBATCH --gpus=a100:2,v100:1\n"),
            "t.sh:2: #SBATCH --gpus: 'a100:2,v100:1' is not a number of GPUs, of one type");
  EXPECT_EQ(with("#SBATCH --gres=gpu:a100:-2\n"),
            "t.sh:2: #SBATCH --gres: 'gpu:a100:-2' is not a number of GPUs, such as gpu:2");
  EXPECT_EQ(refusal("#!/bin/bash\r\necho hi\r\n"),
            "t.sh:1: its lines end as on DOS (CR LF); convert it, as with `sed -i 's/\\r$//'`");
}

TEST(Sbatch, GivesEachRankItsMemory) {
  const auto a =
      apply("#SBATCH -n 3 --mem-per-cpu=1G --job-name=\"run #3\"  # a comment\n").arguments;
  EXPECT_EQ(a.memory, "3221225472");
  EXPECT_EQ(a.display_name, "run #3");
}

TEST(Sbatch, RefusesWhatWouldBeAnotherJob) {
  EXPECT_EQ(refusal("#!/bin/bash\n#SBATCH hetjob\n"),
            "t.sh:2: heterogeneous jobs are not supported");
  EXPECT_EQ(refusal("#!/bin/bash\n#SBATCH -t soon\n"),
            "t.sh:2: #SBATCH -t: 'soon' is not a time, such as 90 (minutes), 1:30:00 or 2-12 "
            "(days-hours)");
  EXPECT_EQ(refusal("#!/bin/bash\n#SBATCH --nodes\n"),
            "t.sh:2: --nodes needs a value, and nothing follows it");
  EXPECT_EQ(refusal("#!/bin/bash\n#SBATCH -N 3 -n 4\n"),
            "t.sh: 4 ranks (--ntasks) cannot be spread evenly over 3 nodes; write "
            "--ntasks-per-node, or -N and -n of `lockstep run`");
  EXPECT_EQ(refusal("echo hi\n"),
            "t.sh:1: the first line must name an interpreter: #!/bin/bash (also sh, dash, zsh, "
            "ksh, python, python3)");
}

TEST(Sbatch, TakesTheInterpreterOfTheFirstLine) {
  RunArguments arguments;
  ASSERT_TRUE(apply_sbatch("t.py", "#!/usr/bin/env python3\nprint(1)\n", arguments));
  EXPECT_EQ(arguments.command[0], "python3");
  ASSERT_EQ(arguments.command.size(), 3u);
  RunArguments login;
  ASSERT_TRUE(apply_sbatch("t.sh", "#!/bin/bash -l\necho\n", login));
  EXPECT_EQ(login.command[1], "-l");
}

}  // namespace
}  // namespace lockstep::cli
