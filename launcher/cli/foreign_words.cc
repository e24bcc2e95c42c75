#include "launcher/cli/foreign_words.h"

#include <algorithm>
#include <array>

namespace lockstep::cli {
namespace {

struct Word {
  std::string_view group, word, meaning;
};

constexpr std::string_view kListJobs = "`lockstep job list` shows the jobs";
constexpr std::string_view kShowJob = "`lockstep job show NAME` shows a job";
constexpr std::string_view kCreateJob =
    "`lockstep job create -f job.yml` submits a job file, and `lockstep run -- COMMAND` a command";
constexpr std::string_view kRun =
    "`lockstep run -N NODES -n RANKS_PER_NODE -- COMMAND` starts all ranks itself";
constexpr std::string_view kRunMpi =
    "`lockstep run -N NODES -n RANKS_PER_NODE --distribution mpi -- COMMAND` starts all ranks "
    "itself";
constexpr std::string_view kRunTorch =
    "`lockstep run -N NODES -n RANKS_PER_NODE --distribution pytorch -- python3 train.py` starts "
    "all ranks itself";
constexpr std::string_view kCancel = "`lockstep job cancel NAME` ends a job";
constexpr std::string_view kLogs = "`lockstep job logs NAME` shows what its ranks printed";
constexpr std::string_view kStream = "`lockstep job stream NAME` follows a job to its end";
constexpr std::string_view kNodes = "`lockstep node list` shows the nodes";
constexpr std::string_view kStatus = "`lockstep status` shows launcher, nodes and jobs";
constexpr std::string_view kTop = "`lockstep top` shows what nodes and jobs use now";
constexpr std::string_view kUsed = "`lockstep job show NAME` shows what each rank used";
constexpr std::string_view kUp = "`lockstep up` starts a launcher and a node on this machine";
constexpr std::string_view kDrain = "`lockstep node drain NAME` keeps new jobs off a node";
constexpr std::string_view kResume = "`lockstep node resume NAME` gives a drained node jobs again";
constexpr std::string_view kAddNode =
    "`lockstep compute attach NAME --host ADDRESS` makes a machine a node over ssh; or `lockstep "
    "node token` makes a token, with which `lockstep-agent` joins on the new node";
constexpr std::string_view kAttach =
    "`lockstep compute attach NAME --host ADDRESS` adds a machine to a target, over ssh";
constexpr std::string_view kConnect =
    "`lockstep compute connect-ssh NAME HOST` opens a shell on a host of a target";
constexpr std::string_view kShell =
    "`lockstep job shell NAME` opens a shell beside a rank of a job";
constexpr std::string_view kStacks = "`lockstep job stacks NAME` shows where its ranks are";
constexpr std::string_view kComputes = "`lockstep compute list` shows the compute targets";
constexpr std::string_view kRemoveNode = "`lockstep node remove NAME` removes a node permanently";

constexpr std::array kWords = std::to_array<Word>({
    // programs of Slurm
    {"", "squeue", kListJobs},
    {"", "sacct", kListJobs},
    {"", "sbatch", "`lockstep run --sbatch FILE` runs a Slurm script"},
    {"", "srun", kRun},
    {"", "salloc", kRun},
    {"", "scancel", kCancel},
    {"", "sinfo", kNodes},
    {"", "scontrol", "`lockstep job show NAME` shows a job, `lockstep node show NAME` a node"},
    // programs that start ranks
    {"", "mpirun", kRunMpi},
    {"", "mpiexec", kRunMpi},
    {"", "torchrun", kRunTorch},
    {"", "accelerate", kRunTorch},
    {"", "deepspeed", kRunTorch},
    // words of docker, kubectl, az ml and git
    {"", "ps", kListJobs},
    {"", "ls", kListJobs},
    {"", "list", kListJobs},
    {"", "jobs", kListJobs},
    {"", "get", "`lockstep job list` shows the jobs, `lockstep node list` the nodes"},
    {"", "describe", kShowJob},
    {"", "show", kShowJob},
    {"", "inspect", kShowJob},
    {"", "create", kCreateJob},
    {"", "apply", kCreateJob},
    {"", "submit", kCreateJob},
    {"", "queue", kListJobs},
    {"", "logs", kLogs},
    {"", "log", kLogs},
    {"", "stream", kStream},
    {"", "attach", kStream},
    {"", "exec", kShell},
    {"", "shell", kShell},
    {"", "py-spy", kStacks},
    {"", "gdb", kStacks},
    {"", "pstack", kStacks},
    {"", "watch", kStream},
    {"", "cancel", kCancel},
    {"", "kill", kCancel},
    {"", "delete", "`lockstep job delete NAME` removes a job that has ended"},
    {"", "rm", "`lockstep job delete NAME` removes a job that has ended"},
    {"", "download", "`lockstep job download NAME` fetches a job's outputs and logs"},
    {"", "cp", "`lockstep job download NAME` fetches a job's outputs and logs"},
    {"", "nodes", kNodes},
    {"", "htop", kTop},
    {"", "stats", kTop},
    {"", "sstat", kTop},
    {"", "seff", kUsed},
    {"", "nvidia-smi", kTop},
    {"", "nvtop", kTop},
    {"", "usage", kTop},
    {"node", "top", "`lockstep top --nodes` shows what the nodes use now"},
    {"job", "top", "`lockstep top --jobs` shows what the jobs use now"},
    {"", "info", kStatus},
    {"", "ping", kStatus},
    {"", "start", kUp},
    {"", "init", kUp},
    {"", "stop", "`lockstep job cancel NAME` ends a job, `lockstep down` the launcher"},
    {"", "shutdown", "`lockstep down` ends the launcher and its local nodes"},
    {"", "drain", kDrain},
    {"", "cordon", kDrain},
    {"", "undrain", kResume},
    {"", "uncordon", kResume},
    {"", "resume",
     "`lockstep job resume NAME` submits an ended job again, from its checkpoint; `lockstep node "
     "resume NAME` gives a drained node jobs again"},
    {"", "join", kAddNode},
    {"", "token", "`lockstep node token` makes a token for a node that joins"},
    {"", "whoami", "`lockstep user whoami` shows your user and roles on the launcher"},
    {"", "login",
     "`lockstep user whoami` shows your user and roles on the launcher; an admin adds users "
     "(`lockstep user add`)"},
    {"", "ssh",
     "`lockstep job shell NAME` opens a shell beside a rank of a job, `lockstep compute "
     "connect-ssh "
     "NAME HOST` one on a host of a target"},
    {"", "env", "`lockstep environment list` shows the environments"},
    {"", "fsck", "`lockstepd fsck --home HOME` checks a launcher's home"},
    {"", "backup", "`lockstepd backup --home HOME` saves a launcher's home"},
    {"", "ui",
     "there is no web page yet; `lockstep status` and `lockstep job list` show what runs"},
    {"", "dashboard",
     "there is no web page yet; `lockstep status` and `lockstep job list` show what runs"},
    {"", "configure", "`lockstep config set defaults.compute=NAME` sets a default"},
    {"", "target", kComputes},
    {"", "targets", kComputes},
    {"", "partition", kComputes},
    {"", "partitions", kComputes},
    {"compute", "ls", kComputes},
    {"compute", "rm", "`lockstep compute delete NAME` removes a target"},
    {"compute", "remove", "`lockstep compute delete NAME` removes a target"},
    {"compute", "add", kAttach},
    {"compute", "connect", kConnect},
    {"compute", "ssh", kConnect},
    {"compute", "upgrade", "`lockstep compute update NAME --upgrade` upgrades its machines"},
    {"compute", "history", "`lockstep compute show NAME --history` shows what happened"},
    {"compute", "retry", "`lockstep compute update NAME` tries again at once what failed"},
    {"compute", "start",
     "starting machines is not supported yet; start lockstep-agent on the node"},
    {"compute", "stop",
     "stopping machines is not supported yet; `lockstep node drain NODE` keeps new jobs off a "
     "node"},
    {"compute", "list-sizes",
     "sizes are not supported yet; `lockstep node list` shows each node's cpus, memory and GPUs"},
    {"compute", "list-usage", "`lockstep quota list` shows what users and projects use"},
    {"data", "download",
     "data is read by jobs: `inputs: {d: {path: azureml:NAME:VERSION}}` in a job file"},
    {"model", "register", "`lockstep model create` registers a model"},
    {"", "component",
     "components are files, which steps of a pipeline name; `lockstep job create -f pipeline.yml` "
     "runs a pipeline"},
    {"", "pipeline", "`lockstep job create -f pipeline.yml` runs a pipeline"},
    {"job", "submit", kCreateJob},
    {"job", "run", kCreateJob},
    {"job", "apply", kCreateJob},
    {"job", "ls", kListJobs},
    {"job", "ps", kListJobs},
    {"job", "queue", kListJobs},
    {"job", "get", kShowJob},
    {"job", "describe", kShowJob},
    {"job", "inspect", kShowJob},
    {"job", "status", kShowJob},
    {"job", "log", kLogs},
    {"job", "tail", "`lockstep job logs NAME --tail 20` shows the last lines"},
    {"job", "attach",
     "`lockstep job stream NAME` follows a job to its end, `lockstep job shell NAME` opens a shell "
     "in it"},
    {"job", "exec", kShell},
    {"job", "ssh", kShell},
    {"job", "connect-ssh", kShell},
    {"job", "enter", kShell},
    {"job", "debug", kShell},
    {"job", "stack", kStacks},
    {"job", "dump", kStacks},
    {"job", "py-spy", kStacks},
    {"job", "watch", kStream},
    {"job", "wait", kStream},
    {"job", "follow", kStream},
    {"job", "stop", kCancel},
    {"job", "kill",
     "`lockstep job cancel NAME` ends a job, `lockstep job signal NAME USR1` sends a signal to its "
     "ranks"},
    {"job", "scancel", kCancel},
    {"job", "rm", "`lockstep job delete NAME` removes a job that has ended"},
    {"job", "remove", "`lockstep job delete NAME` removes a job that has ended"},
    {"job", "top", "`lockstep job update NAME --priority high` lets a queued job go first"},
    {"job", "hide", "`lockstep job archive NAME` leaves a job out of lists"},
    {"job", "unarchive", "`lockstep job restore NAME` takes an archived job back into lists"},
    {"job", "rename", "`lockstep job update NAME --set display_name=TEXT`"},
    {"job", "tag", "`lockstep job update NAME --set tags.KEY=VALUE`"},
    {"job", "label", "`lockstep job update NAME --set tags.KEY=VALUE`"},
    {"job", "annotate", "`lockstep job update NAME --set tags.KEY=VALUE`"},
    {"job", "history", "`lockstep job events NAME` shows what happened to a job"},
    {"job", "outputs", "`lockstep job download NAME` fetches a job's outputs and logs"},
    {"job", "artifacts", "`lockstep job download NAME` fetches a job's outputs and logs"},
    {"job", "cp", "`lockstep job download NAME` fetches a job's outputs and logs"},
    {"job", "why", "`lockstep job explain NAME` says why a job waits"},
    {"node", "ls", kNodes},
    {"node", "undrain", kResume},
    {"node", "uncordon", kResume},
    {"node", "enable", kResume},
    {"node", "cordon", kDrain},
    {"node", "disable", kDrain},
    {"node", "describe", "`lockstep node show NAME` shows a node"},
    {"node", "get", "`lockstep node show NAME` shows a node"},
    {"node", "add", kAddNode},
    {"node", "join", kAddNode},
    {"node", "create", kAddNode},
    {"node", "rm", kRemoveNode},
    {"node", "delete", kRemoveNode},
    {"environment", "ls", "`lockstep environment list` shows the environments"},
    {"environment", "build",
     "`lockstep environment prepare -f NAME@latest` builds an environment on the nodes"},
    {"environment", "rm",
     "`lockstep environment delete NAME --version V` deletes a version; `lockstep environment "
     "prune` removes unused environments from the nodes"},
    {"user", "create", "`lockstep user add NAME` adds a user"},
    {"user", "delete", "`lockstep user remove NAME` removes a user"},
    {"user", "rm", "`lockstep user remove NAME` removes a user"},
    {"user", "ls", "`lockstep user list` shows the users"},
    {"secret", "create", "`lockstep secret set NAME` stores a secret"},
    {"secret", "add", "`lockstep secret set NAME` stores a secret"},
    {"secret", "delete", "`lockstep secret remove NAME` removes a secret"},
    {"secret", "rm", "`lockstep secret remove NAME` removes a secret"},
    {"secret", "ls", "`lockstep secret list` shows the names of your secrets"},
    {"secret", "get", "a secret is never shown again; `lockstep secret list` shows the names"},
    {"secret", "show", "a secret is never shown again; `lockstep secret list` shows the names"},
});

struct Option {
  std::string_view option, meaning;
};

constexpr std::string_view kRanks = "ranks per node is `-n`, nodes is `-N`";
constexpr std::string_view kRanksOfAll =
    "ranks per node is `-n`, nodes is `-N`; their product is the number of all ranks";
constexpr std::string_view kTimeout = "the time limit is `--timeout`, such as 90m or 2h";
constexpr std::string_view kTargets =
    "a partition is a compute target: --compute NAME; `lockstep compute list` shows all";

constexpr std::array kOptions = std::to_array<Option>({
    {"--ntasks", kRanksOfAll},
    {"--np", kRanksOfAll},
    {"-np", kRanksOfAll},
    {"--ntasks-per-node", kRanks},
    {"--nproc-per-node", kRanks},
    {"--nproc_per_node", kRanks},
    {"--ppn", kRanks},
    {"--nnodes", "nodes is `-N`"},
    {"--instance-count", "nodes is `-N`"},
    {"--cpus-per-task", "cpus on each node is `--cpus`"},
    {"--mem", "memory on each node is `--memory`"},
    {"--gres", "GPUs on each node is `--gpus`"},
    {"--gpus-per-node", "GPUs on each node is `--gpus`"},
    {"--time", kTimeout},
    {"--exclusive", "use `--isolated`: it keeps other jobs off the job's machines"},
    {"--constraint", "labels of nodes are `--label KEY=VALUE`"},
    {"--dependency",
     "--after NAME waits until job NAME has completed (afterok), --after NAME:ended "
     "until it has ended (afterany)"},
    {"--nice", "--priority low, medium or high"},
    {"--qos", "--priority low, medium or high"},
    {"--job-name", "the job's name is `--name`"},
    {"--partition", kTargets},
    {"--chdir", "the source directory is `--code`"},
    {"--workdir", "the source directory is `--code`"},
    {"--export", "variables are `--env NAME` and `--env-file FILE`"},
    {"--rm",
     "a job's folders are removed automatically; `lockstep job delete NAME` deletes its record"},
    {"--volume", "give options of `docker run` with `--docker-args`"},
    {"--mount", "give options of `docker run` with `--docker-args`"},
    {"--follow", "`lockstep job stream NAME` follows a job to its end"},
    {"--json", "JSON is `-o json`"},
    {"-it", "a shell has a terminal where there is one here; for another program it is `-t`"},
    {"-ti", "a shell has a terminal where there is one here; for another program it is `-t`"},
    {"--interactive", "of `run`, --pty gives rank 0 a terminal, --stdin this standard input"},
});

}  // namespace

std::optional<std::string> meaning_of_option(std::string_view option) {
  const auto found = std::find_if(kOptions.begin(), kOptions.end(),
                                  [&](const Option& known) { return known.option == option; });
  if (found == kOptions.end()) return std::nullopt;
  return std::string(found->meaning);
}

std::optional<std::string> meaning_of(std::string_view group, std::string_view word) {
  const auto found = std::find_if(kWords.begin(), kWords.end(), [&](const Word& known) {
    return known.group == group && known.word == word;
  });
  if (found == kWords.end()) return std::nullopt;
  return std::string(found->meaning);
}

std::vector<std::string> with_options_for_words(std::vector<std::string> words) {
  if (words.empty()) return words;
  if (words[0] == "version" && words.size() == 1) return {"--version"};
  if (words[0] != "help") return words;
  words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

}  // namespace lockstep::cli
