#include "launcher/cli/command_line.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace lockstep::cli {
namespace {

using Words = std::vector<std::string>;

TEST(CommandLine, HelpAndVersionGoToStandardOutput) {
  const CommandLine help = parse_command_line({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_FALSE(help.action);
  EXPECT_NE(help.out.find("lockstep run -- python3 train.py"), std::string::npos);
  EXPECT_EQ(help.err, "");
  EXPECT_EQ(parse_command_line({"--version"}).out, "lockstep " LOCKSTEP_VERSION "\n");
  EXPECT_NE(parse_command_line({"run", "--help"}).out.find("lockstep run -n 4"), std::string::npos);
}

TEST(CommandLine, VersionAndHelpAreTakenAsWordsToo) {
  EXPECT_EQ(parse_command_line({"version"}).out, "lockstep " LOCKSTEP_VERSION "\n");
  EXPECT_EQ(parse_command_line({"help"}).out, parse_command_line({"--help"}).out);
  EXPECT_EQ(parse_command_line({"help", "job", "list"}).out,
            parse_command_line({"job", "list", "--help"}).out);
}

TEST(CommandLine, WrongOnesExitWithTwoAndSayWhy) {
  const std::vector<std::pair<Words, std::string>> cases = {
      {{}, "lockstep run -- python3 train.py"},
      {{"node", "drain", "--bogus"}, "--bogus"},
      {{"job", "show", "--bogus"}, "--bogus"},
      {{"snapshot", "--bogus"}, "--bogus"},
      {{"fly"},
       "unknown verb 'fly'; the verbs are up, down, status, run, job, environment, data, model, "
       "component, datastore, "
       "top, node, "
       "compute, size, user, project, secret, audit, quota, config, snapshot, doctor, "
       "completion, init"},
      {{"squeue"}, "unknown verb 'squeue'; `lockstep job list` shows the jobs"},
      {{"sbatch", "x.sh"}, "`lockstep run --sbatch FILE` runs a Slurm script"},
      {{"logs", "x"}, "`lockstep job logs NAME`"},
      {{"ps"}, "`lockstep job list`"},
      {{"compute", "add", "vm"}, "`lockstep compute attach NAME --host ADDRESS`"},
      {{"ssh", "vm"}, "`lockstep compute connect-ssh NAME HOST`"},
      {{"compute", "detach"}, "NAME is required"},
      {{"compute", "delete", "--force"}, "NAME is required"},
      {{"compute", "delete", "lab", "--host", "vm1"}, "unknown option --host"},
      {{"compute", "connect-ssh"}, "NAME is required"},
      {{"compute", "connect-ssh", "lab", ""}, "HOST: must not be empty"},
      {{"compute", "attach", "lab", "--host", ""}, "--host: must not be empty"},
      {{"compute", "attach", "lab", "--host", "vm1", "vm2"}, "unexpected word 'vm2'"},
      {{"compute", "attach", "lab", "--tunnel", "maybe"},
       "--tunnel: 'maybe' is not auto, always or never"},
      {{"compute", "attach", "lab", "--host", "a", "--password-secret", "p",
        "--ssh-private-key-file", "k"},
       "--ssh-private-key-file"},
      {{"compute", "show", "lab", "--", "true"}, "`compute connect-ssh` take a command"},
      {{"up", "--hosts", ""}, "--hosts: must not be empty"},
      {{"ui"}, "there is no web page yet"},
      {{"node", "undrain", "n1"},
       "unknown verb 'node undrain'; `lockstep node resume NAME` gives a drained node jobs again"},
      {{"job", "stop", "x"}, "unknown verb 'job stop'; `lockstep job cancel NAME` ends a job"},
      {{"run", "--ntasks", "4", "--", "true"},
       "lockstep: unknown option --ntasks; ranks per node is `-n`, nodes is `-N`;"},
      {{"run", "--ntasks=4", "--", "true"}, "lockstep: unknown option --ntasks; ranks"},
      {{"run", "--memry", "4g", "--", "true"}, "unknown option --memry; did you mean --memory?"},
      {{"job", "list", "--jsn"}, "unknown option --jsn"},
      {{"job", "list", "--sort", "loss"}, "--sort: 'loss' is no metric to sort by; write metrics."},
      {{"job", "list", "--metrics", "a," + std::string(300, 'x')},
       "--metrics: the name of a metric has 1 to 250 bytes"},
      {{"job", "metrics"}, "NAME is required"},
      {{"job", "metrics", "x", "--time"}, "--time: needs --metric"},
      {{"job", "metrics", "--name", "x", "--points", "5"}, "--points: needs --metric"},
      {{"job", "metrics", "x", "--name", "a", "--metric", "b"},
       "--name: the metric is already given with --metric"},
      {{"job", "metrics", "x", "-o", "xml"}, "'xml' is not table, json, yaml, tsv or csv"},
      {{"job", "show", "x", "-o", "csv"}, "'csv' is not table, json, yaml or tsv"},
      {{"job", "metrics", "x", "-o", "csv", "--query", "metrics"}, "every format but csv"},
      {{"job", "metrics", "x", "--follow", "-o", "json"}, "--follow"},
      {{"jbo", "list"}, "unknown verb 'jbo'; did you mean 'job'?"},
      {{"job", "lsit"}, "unknown verb 'job lsit'; did you mean 'job list'?"},
      {{"audit", "verfy"}, "unknown verb 'audit verfy'; did you mean 'audit verify'?"},
      {{"run"}, "lockstep: run: there is no COMMAND; write it after --, as in: "},
      {{"run", "--"}, "lockstep: run: there is no COMMAND; write it after --, as in: "},
      {{"run", "python", "t.py"}, "write the command after --, as in: lockstep run -- python"},
      {{"run", "--bogus", "--", "true"}, "--bogus"},
      {{"run", "-N", "0", "--", "true"}, "-N"},
      {{"run", "-N", "two", "--", "true"}, "two"},
      {{"run", "-N", "0", "--", "true"}, "'0' is not a whole number from 1 to "},
      {{"run", "-N", "", "--", "true"}, "'' is not a whole number from 1 to "},
      {{"run", "-N", "1.5", "--", "true"}, "'1.5' is not a whole number from 1 to "},
      {{"run", "-n", "0", "--", "true"}, "'0' is not a whole number from 1 to "},
      {{"run", "-n", "-1", "--", "true"}, "'-1' is not a whole number from 1 to "},
      {{"run", "-n", "5000", "--", "true"}, "5000"},
      {{"run", "--cpus", "0", "--", "true"}, "--cpus: '0' is not a whole number of at least 1"},
      {{"run", "--gpus", "-1", "--", "true"}, "--gpus: '-1' is not a whole number of at least 0"},
      {{"run", "--name", "", "--", "true"}, "--name: must not be empty"},
      {{"run", "--code", "", "--", "true"}, "--code: must not be empty"},
      {{"run", "--memory", "", "--", "true"}, "--memory: must not be empty"},
      {{"run", "--timeout", "", "--", "true"}, "--timeout: must not be empty"},
      {{"run", "--conda-file", "a", "--conda-file", "b", "--", "true"},
       "lockstep: --conda-file is given 2 times; write it once\n"},
      {{"run", "-w", "", "--", "true"}, "--nodelist: must not be empty"},
      {{"run", "--exclusive", "--", "true"},
       "use `--isolated`: it keeps other jobs off the job's machines"},
      {{"size", "add"}, "--file is required"},
      {{"size", "grant", "x"}, "--machines is required"},
      {{"size", "grant", "x", "--machines", "-1"}, "--machines: '-1' is not a whole number from 0"},
      {{"size", "show", ""}, "must not be empty; `lockstep compute list-sizes` shows the names"},
      {{"compute", "list-sizes", "--type", "aks"}, "--type: aks not in"},
      {{"node", "label", "n1"}, "LABEL is required"},
      {{"run", "--image", "", "--", "true"}, "--image: must not be empty"},
      {{"run", "--shm-size=", "--", "true"}, "--shm-size: must not be empty"},
      {{"job", "create", "-f", ""}, "--file: must not be empty"},
      {{"job", "create", "-f", "a.yml", "--name", ""}, "--name: must not be empty"},
      {{"job", "create", "-f", "a.yml", "-q"}, "--stream"},
      {{"job", "show", ""}, "must not be empty; `lockstep job list` shows the names"},
      {{"job", "show", "x", "-n", "y"}, "lockstep: "},
      {{"run", "--name=", "--", "true"}, "--name: must not be empty"},
      {{"run", "--name=", "--detach", "--", "true"}, "--name: must not be empty"},
      {{"job", "logs", "x", "--attempt", "0"}, "--attempt: '0' is not a whole number of at least"},
      {{"job", "list", "--max-results", "0"}, "'0' is not a whole number of at least 1"},
      {{"job", "list", "-a", "-r", "5"}, "--all-results"},
      {{"node", "show", ""}, "NAME: must not be empty"},
      {{"node", "token", "--valid-for", ""}, "--valid-for: must not be empty"},
      {{"run", "--timeout", "--", "true"}, "--timeout"},
      {{"up", "--nodes", "0"}, "--nodes"},
      {{"up", "--nodes", "65"}, "65"},
      {{"down", "now"}, "now"},
      {{"status", "-o", "xml"}, "'xml' is not table, json, yaml or tsv"},
      {{"job"}, "download"},
      {{"job", "create"}, "--file"},
      {{"job", "show"}, "NAME is required"},
      {{"job", "logs", "x", "--rank", "-1"}, "--rank"},
      {{"job", "download"}, "NAME"},
      {{"job", "download", "x", "--all", "--output-name", "m"}, "--all"},
      {{"job", "download", "x", "-p", ""}, "leave it out to take ./NAME"},
      {{"job", "logs", "x", "--stdout", "--stderr"}, "--stderr"},
      {{"job", "list", "--limit", "0"}, "'0' is not a whole number of at least 1"},
      {{"job", "logs", "x", "--tail", "-1"}, "'-1' is not a whole number of at least 0"},
      {{"job", "list", "--", "true"},
       "only `run`, `job shell` and `compute connect-ssh` take a command"},
      {{"job", "create", "job.yml"}, "unexpected word 'job.yml'; to name a file, write -f job.yml"},
      {{"job", "resume"}, "NAME is required"},
      {{"job", "archive"}, "NAME is required"},
      {{"job", "restore", ""}, "must not be empty"},
      {{"job", "update", "x"}, "--set, --remove or --priority is required"},
      {{"job", "update", "--set", "tags.a=b"}, "NAME is required"},
      {{"job", "update", "x", "--priority", "urgent"}, "is not low, medium or high"},
      {{"job", "list", "--archived-only", "--include-archived"}, "--archived-only"},
      {{"environment"}, "prepare"},
      {{"environment", "create"}, "--file"},
      {{"environment", "create", "-f", "e.yml", "--name", ""}, "leave it out to take the file's"},
      {{"environment", "show"}, "NAME is required"},
      {{"environment", "show", "a", "--version", "1", "--label", "latest"}, "--label"},
      {{"environment", "prepare"}, "--file"},
      {{"environment", "prepare", "-f", "a:1", "--nodes", "0"}, "'0' is not a whole number"},
      {{"environment", "log"}, "JOB is required"},
      {{"environment", "log", "j", "--node-rank", "-1"}, "'-1' is not a whole number"},
      {{"environment", "list", "-o", "xml"}, "'xml' is not table, json, yaml or tsv"},
      {{"run", "--pip", "", "--", "true"}, "write a requirement"},
      {{"run", "--environment", "", "--", "true"}, "leave it out"},
      {{"node", "drain"}, "NAME"},
      {{"node", "token", "--uses", "0"}, "--uses"},
      {{"snapshot"}, "DIR"},
  };
  for (const auto& [words, why] : cases) {
    const CommandLine line = parse_command_line(words);
    const std::string shown = testing::PrintToString(words);
    EXPECT_EQ(line.exit_code, kExitUsage) << shown;
    EXPECT_FALSE(line.action) << shown;
    EXPECT_NE(line.err.find(why), std::string::npos) << shown << ": " << line.err;
    EXPECT_EQ(line.out, "") << shown;
  }
}

TEST(CommandLine, TheHelpOfTheVerbIsNamed) {
  const auto ends_with = [](const std::vector<std::string>& words, const std::string& end) {
    const std::string err = parse_command_line(words).err;
    EXPECT_TRUE(err.ends_with("see lockstep " + end + "\n")) << err;
  };
  ends_with({"job", "logs", "x", "--bogus"}, "job logs --help");
  ends_with({"job", "logs"}, "job logs --help");
  ends_with({"job", "lsit"}, "job --help");
  ends_with({"status", "--bogus"}, "status --help");
  ends_with({"run", "--bogus", "--", "true"}, "run --help");
  ends_with({"jbo"}, "--help");
}

TEST(CommandLine, OptionsOfAzWithoutMeaningAreTakenAndSaid) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"job", "list", "-g", "rg", "-w", "ws"},
           {"job", "show", "-n", "x", "--resource-group", "rg", "--workspace-name=ws"},
           {"job", "create", "-g", "rg", "-f", "job.yml", "--workspace-name", "ws"},
           {"run", "--resource-group", "rg", "--", "true"},
           {"data", "list", "--subscription", "s"}}) {
    const CommandLine line = parse_command_line(words);
    EXPECT_TRUE(line.action) << words[0] << " " << words[1] << ": " << line.err;
    EXPECT_NE(line.err.find("no meaning here"), std::string::npos) << line.err;
    EXPECT_EQ(std::count(line.err.begin(), line.err.end(), '\n'), 1) << line.err;
  }
  EXPECT_EQ(parse_command_line({"run", "-w", "n1", "--", "true"}).err, "") << "its node list";
  EXPECT_EQ(parse_command_line({"run", "--", "x", "-g", "y"}).err, "") << "the command's";
}

TEST(CommandLine, OutputNamesAFormatOrAnOutputOfTheJob) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"run", "--output", "model", "--output=log", "--", "true"},
           {"run", "--output", "json", "--output", "model", "--", "true"},
           {"job", "create", "-f", "job.yml", "--output", "model", "-o", "json"},
           {"job", "validate", "-f", "job.yml", "--output", "model", "--output", "yaml"},
           {"job", "list", "--output", "json"}}) {
    EXPECT_TRUE(parse_command_line(words).action) << parse_command_line(words).err;
    EXPECT_TRUE(parse_command_line(words, "yaml").action) << parse_command_line(words).err;
  }
  for (const char* standard : {"", "json"})
    EXPECT_EQ(parse_command_line({"job", "list", "--output", "xml"}, standard).exit_code, 2);
}

TEST(CommandLine, GoodOnesHaveWorkToDo) {
  const std::vector<Words> cases = {
      {"environment", "create", "-f", "e.yml", "-n", "tools", "-v", "3", "-o", "json"},
      {"environment", "list", "--name", "tools"},
      {"environment", "show", "tools@latest"},
      {"environment", "show", "--name", "tools", "--version", "3"},
      {"environment", "prepare", "-f", "e.yml", "--nodes", "2", "--rebuild"},
      {"environment", "prune", "--unused-for", "7d"},
      {"environment", "list", "--include-archived"},
      {"environment", "archive", "-n", "tools", "-v", "3"},
      {"environment", "restore", "tools", "--label", "latest"},
      {"environment", "update", "tools:3", "--set", "tags.a=b", "--remove", "description"},
      {"data", "update", "-n", "faces", "-v", "3", "--set", "description=c d"},
      {"model", "update", "net@latest", "--remove", "tags"},
      {"environment", "log", "job", "--node-rank", "1"},
      {"run", "--requirements", "r.txt", "--pip", "six", "--pip", "numpy", "--rebuild", "--", "x"},
      {"run", "--interpreter", "python3", "--", "x"},
      {"run", "--environment", "tools:3", "--", "x"},
      {"job", "create", "-f", "j.yml", "--rebuild"},
      {"run", "--", "true"},
      {"run", "-N",     "2",  "-n",     "4", "--distribution", "mpi", "--env",  "A=b", "--env",
       "C=d", "--code", ".",  "--name", "x", "--timeout",      "5m",  "--gpus", "1",   "--detach",
       "--",  "a",      "--", "-N"},
      {"job", "create", "-f", "job.yml", "--set", "a.b=c", "--set", "d=e", "--name", "x",
       "--stream"},
      {"job", "list", "-o", "json"},
      {"job", "list", "-o", "json", "--output", "yaml"},
      {"job", "list", "-r", "5"},
      {"job", "list", "--all-results"},
      {"job", "list", "--sort", "metrics.loss", "-r", "5"},
      {"job", "list", "--sort", "metrics.acc:desc", "--metrics", "loss,lr", "--metrics", "x"},
      {"job", "create", "-f", "job.yml", "--stream", "-q", "-o", "yaml"},
      {"job", "show", "x", "-o", "yaml"},
      {"job", "stream", "x"},
      {"job", "cancel", "--name", "x"},
      {"job", "logs", "-n", "x", "--tail", "0"},
      {"job", "download", "--name", "x", "--download-path", "d", "--all"},
      {"job", "download", "x", "--output-name", "model", "-p", "d", "--attempt", "2", "-o", "json"},
      {"job", "create", "-f", "job.yml", "-n", "x", "-s"},
      {"run", "-d", "-e", "A=b", "--", "true"},
      {"job", "logs", "x", "--rank", "0", "--node", "1", "--stderr", "--tail", "3", "-f"},
      {"job", "logs", "x", "--since", "10m", "--grep", "a|b", "-t", "--no-prefix"},
      {"job", "stream", "x", "--rank", "0", "--since", "2026-01-31T12:00:00Z", "--grep", "x"},
      {"job", "events", "x"},
      {"job", "metrics", "x", "--metric", "loss", "--time", "--log", "--points", "50"},
      {"job", "metrics", "x", "--name", "loss", "-o", "csv"},
      {"job", "metrics", "--name", "x", "--metric", "loss", "--follow"},
      {"job", "metrics", "-n", "x", "-o", "csv", "-o", "json", "--query", "metrics"},
      {"job", "events", "--name", "x", "--follow", "-o", "json"},
      {"job", "cancel", "x"},
      {"job", "explain", "x"},
      {"job", "share", "x", "y"},
      {"job", "archive", "x", "y"},
      {"job", "restore", "-n", "x"},
      {"job", "update", "x", "y", "--set", "tags.a=b", "--set", "description=c d", "--remove",
       "tags.e", "--priority", "low"},
      {"job", "list", "--archived-only"},
      {"job", "list", "--include-archived", "--parent", "p"},
      {"job", "resume", "x", "--name", "y", "--stream", "-q", "-o", "json"},
      {"job", "unshare", "-n", "x"},
      {"node", "list"},
      {"node", "token", "--uses", "3", "--valid-for", "5m"},
      {"node", "token", "--approve"},
      {"node", "approve", "n1", "n2"},
      {"node", "drain", "n1", "--reason", "disk"},
      {"node", "revoke", "n1", "--now"},
      {"node", "resume", "n1"},
      {"up", "--nodes", "2"},
      {"up", "--hosts", "vm1,ann@vm2:2222", "--hosts", "vm3"},
      {"compute", "attach", "lab", "--host", "vm1", "--host", "ann@vm2:22,vm3", "--user", "bob"},
      {"compute", "attach", "--host", "vm1", "lab", "--no-wait"},
      {"compute", "attach", "-f", "c.yml", "--set", "a=b", "--timeout", "5m", "-o", "json"},
      {"compute", "create", "--name", "lab", "--type", "virtualmachine", "--host", "vm1"},
      {"compute", "update", "lab", "--upgrade", "--no-wait"},
      {"compute", "show", "lab", "--history", "-o", "json"},
      {"compute", "detach", "lab", "--host", "vm1", "--force", "--no-wait", "-y"},
      {"compute", "detach", "-n", "lab", "--yes"},
      {"compute", "delete", "lab", "--force", "--timeout", "90"},
      {"compute", "connect-ssh", "lab"},
      {"compute", "connect-ssh", "lab", "vm1", "--", "ls", "--", "-l"},
      {"compute", "connect-ssh", "-n", "lab", "--private-key-file-path", "k", "--", "true"},
      {"down", "--cancel"},
      {"status"},
      {"snapshot", ".", "--skipped"},
  };
  for (const auto& words : cases) {
    const CommandLine line = parse_command_line(words);
    EXPECT_TRUE(line.action) << testing::PrintToString(words) << ": " << line.err;
    EXPECT_EQ(line.err + line.out, "");
  }
}

}  // namespace
}  // namespace lockstep::cli
