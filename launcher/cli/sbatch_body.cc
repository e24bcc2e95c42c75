#include "launcher/cli/sbatch_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "common/base/quoted_name.h"

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

std::string_view first_word(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return line.substr(0, line.find_first_of(" \t"));
}

// Lockstep starts the script once for each rank, where sbatch starts it once, and srun the ranks.
bool starts_ranks(std::string_view word) {
  return word == "srun" || word == "mpirun" || word == "mpiexec";
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
  bool has_said_srun = false;
  int number = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::string_view word = first_word(line);
    if (word.starts_with('#')) continue;
    if (starts_ranks(word) && !std::exchange(has_said_srun, true))
      notes.push_back(
          fmt::format("{}:{}: the script runs once for each rank, so `{}` must go: write "
                      "its program alone (MPI programs: with --distribution mpi)",
                      quoted_name(file), number, word));
    for (const std::string_view name : slurm_names(line))
      if (said.emplace(name).second)
        notes.push_back(fmt::format("{}:{}: {}", quoted_name(file), number, note_on(name)));
  }
  return notes;
}

}  // namespace lockstep::cli
