#include "launcher/cli/scripts/slurm_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <sstream>
#include <string_view>

#include "common/base/quoted_name.h"
#include "launcher/cli/scripts/called_programs.h"

namespace lockstep::cli {

namespace {

struct Variable {
  std::string_view slurms;
  std::string_view ours;
};

constexpr std::array kVariables = std::to_array<Variable>({
    {"SLURM_PROCID", "LOCKSTEP_RANK"},
    {"SLURM_LOCALID", "LOCKSTEP_LOCAL_RANK"},
    {"SLURM_NTASKS", "LOCKSTEP_WORLD_SIZE"},
    {"SLURM_NPROCS", "LOCKSTEP_WORLD_SIZE"},
    {"SLURM_NTASKS_PER_NODE", "LOCKSTEP_LOCAL_WORLD_SIZE"},
    {"SLURM_NODEID", "LOCKSTEP_NODE_RANK"},
    {"SLURM_NNODES", "LOCKSTEP_NODE_COUNT"},
    {"SLURM_JOB_NUM_NODES", "LOCKSTEP_NODE_COUNT"},
    {"SLURM_JOB_ID", "LOCKSTEP_JOB"},
    {"SLURM_JOBID", "LOCKSTEP_JOB"},
    {"SLURM_RESTART_COUNT", "LOCKSTEP_ATTEMPT, which begins with 1"},
    {"SLURM_TMPDIR", "TMPDIR"},
    {"SLURM_ARRAY_TASK_ID", "LOCKSTEP_ARRAY_INDEX"},
    {"SLURM_ARRAY_TASK_COUNT", "LOCKSTEP_ARRAY_COUNT"},
    {"SLURM_ARRAY_TASK_MIN", "LOCKSTEP_ARRAY_MIN"},
    {"SLURM_ARRAY_TASK_MAX", "LOCKSTEP_ARRAY_MAX"},
    {"SLURM_SUBMIT_DIR", "PWD: the script runs in a copy of the source directory"},
    {"SLURM_JOB_NODELIST", "AZ_BATCH_HOST_LIST, which has addresses with commas between them"},
    {"SLURM_NODELIST", "AZ_BATCH_HOST_LIST, which has addresses with commas between them"},
    {"SLURM_LAUNCH_NODE_IPADDR", "MASTER_ADDR (--distribution pytorch)"},
    {"SLURMD_NODENAME", "HOSTNAME of the shell, or `hostname`"},
    {"SLURM_GPUS_ON_NODE", "AZ_BATCHAI_GPU_COUNT"},
    {"SLURM_GPUS", "AZ_BATCHAI_GPU_COUNT, which is of one node"},
});

bool is_of_name(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

// The names in a line that begin with SLURM_.
std::vector<std::string_view> slurm_names(std::string_view line) {
  std::vector<std::string_view> names;
  for (std::size_t at = 0; (at = line.find("SLURM_", at)) != line.npos;) {
    std::size_t end = at;
    while (end < line.size() && is_of_name(line[end])) ++end;
    if (at == 0 || !is_of_name(line[at - 1])) names.push_back(line.substr(at, end - at));
    at = end;
  }
  return names;
}

// The replacement for a program of Slurm, which nodes do not have.
struct Program {
  std::string_view name;
  std::string_view instead;
};

// The note that Lockstep starts the script once per rank; sbatch starts it once, and srun starts
// the ranks.
constexpr std::string_view kStartsRanks =
    "the script runs once for each rank, so `{}` must go: write its program alone (MPI programs: "
    "with --distribution mpi)";
constexpr std::array kPrograms = std::to_array<Program>({
    {"srun", kStartsRanks},
    {"mpirun", kStartsRanks},
    {"mpiexec", kStartsRanks},
    {"mpiexec.hydra", kStartsRanks},
    {"orterun", kStartsRanks},
    {"prterun", kStartsRanks},
    {"horovodrun", kStartsRanks},
    {"scontrol",
     "there is no `{}` here: AZ_BATCH_HOST_LIST has the addresses of the job's nodes (several "
     "nodes; commas between them), MASTER_ADDR that of the first one (--distribution pytorch); "
     "instead of `requeue`: --retry-on timeout, or the exit code that the script ends with"},
    {"sbatch", "there is no `{}` here: write `lockstep run --detach --sbatch FILE`"},
    {"squeue", "there is no `{}` here: write `lockstep job list`"},
    {"sacct", "there is no `{}` here: write `lockstep job show NAME`"},
    {"sinfo", "there is no `{}` here: write `lockstep node list`"},
    {"scancel", "there is no `{}` here: write `lockstep job cancel NAME`"},
});

std::string text_of(const Program& program) {
  std::string text(program.instead);
  if (const auto at = text.find("{}"); at != text.npos) text.replace(at, 2, program.name);
  return text;
}

std::string note_on(std::string_view name) {
  const auto known = std::find_if(kVariables.begin(), kVariables.end(),
                                  [&](const Variable& one) { return one.slurms == name; });
  return known == kVariables.end() ? fmt::format("{} is not set", name)
                                   : fmt::format("{} is not set; use {}", name, known->ours);
}

}  // namespace

std::vector<std::string> notes_on_body(const std::string& file, const std::string& text) {
  std::vector<std::string> notes;
  std::set<std::string, std::less<>> said;
  int number = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const auto first = line.find_first_not_of(" \t");
    if (first != line.npos && line[first] == '#') continue;
    for (const Program& program : kPrograms)
      if (calls(line, program.name) && said.emplace(program.instead).second)
        notes.push_back(fmt::format("{}:{}: {}", quoted_name(file), number, text_of(program)));
    for (const std::string_view name : slurm_names(line))
      if (said.emplace(name).second)
        notes.push_back(fmt::format("{}:{}: {}", quoted_name(file), number, note_on(name)));
  }
  return notes;
}

std::vector<std::string> notes_on_slurm(const std::function<bool(std::string_view)>& calls,
                                        std::string_view text,
                                        const std::function<bool(std::string_view)>& is_set) {
  std::vector<std::string> notes;
  std::set<std::string_view> said;
  for (const Program& program : kPrograms)
    if (program.instead != kStartsRanks && calls(program.name))
      notes.push_back("the command calls `" + std::string(program.name) + "`, but " +
                      text_of(program));
  for (const std::string_view name : slurm_names(text))
    if (!is_set(name) && said.insert(name).second) notes.push_back(note_on(name));
  return notes;
}

}  // namespace lockstep::cli
