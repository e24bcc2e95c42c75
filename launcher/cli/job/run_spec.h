#pragma once
// Converts the flags of `lockstep run` to a JobSpec. Pure, except that --env NAME reads our own
// variable, and that --env-file and the environment's flags read files.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/job/spec.h"
#include "launcher/cli/job/flags.h"
#include "launcher/cli/terminal/output.h"
#include "launcher/files/environment/environment_reader.h"
#include "launcher/files/yaml/faults.h"

namespace lockstep::cli {

struct RunArguments : JobFlags {  // a Slurm script's job-name and partition are among these
  std::optional<int> nodes;       // absent: as many as nodelist has, else 1
  std::optional<int> ranks;       // the ranks on each node; absent: 1
  std::string distribution = "none";
  std::string code;              // "" = the current directory
  std::vector<std::string> env;  // K=V, or K
  std::vector<std::string> env_files;
  std::vector<std::string> secrets;  // VARIABLE=SECRET, or SECRET for both
  std::string name;
  std::string project;  // "" = the default one
  std::string timeout;
  std::string priority;            // "" = medium
  std::vector<std::string> after;  // NAME, or NAME:ended
  std::string begin;               // "" = at any time
  std::string array;               // 0-19%4; "": one job
  std::optional<int> cpus;
  std::string memory;
  std::optional<int> gpus;
  std::string instance_type;  // a size
  bool isolated = false;
  std::string rdma;                 // "" = off
  std::vector<std::string> labels;  // KEY=VALUE
  std::string nodelist;             // names with commas between them
  std::optional<int> pids_limit;
  bool require_limits = false;
  std::string binding;                // "" = auto
  std::vector<std::string> keep;      // patterns
  std::string from_checkpoint_of;     // a job's name
  std::string log_limit, disk_limit;  // "" = the default
  std::optional<int> retry;
  std::string retry_on;      // "" = the default
  std::string hang_after;    // "" = the default
  std::string on_hang;       // "" = report
  std::string core;          // "" = off
  std::string interpreter;   // at most one of these six, which choose the environment,
  std::string requirements;  // or `requirements` with `pip`, or `image` with `conda_file`
  std::vector<std::string> pip;
  std::string conda_file;
  std::string image;
  std::string environment;
  std::string shm_size;     // of a container, "" = the default
  std::string docker_args;  // of a container, quoted as for a shell
  bool rebuild = false;
  bool detach = false;
  bool quiet = false;
  bool raw = false;  // shows the output unchanged on a terminal
  TerminalKind terminal = TerminalKind::none;
  Format format = Format::table;
  std::string sbatch;  // a Slurm script; then `command` has the words for it
  std::vector<std::string> command;
};

// Makes the spec; with --array, one task's. An error has a line for each flag that is wrong.
Result<JobSpec> spec_of(const RunArguments& arguments);
// The same, but adds errors to `faults` and fills in the rest of the spec.
JobSpec spec_of(const RunArguments& arguments, spec::Faults& faults);
// The flags that the launcher may refuse: key of a job file -> "--name night".
std::map<std::string, std::string> flags_by_key(const RunArguments& arguments);
// nullopt: the job is not an array.
Result<std::optional<ArraySpec>> array_of(const RunArguments& arguments);

// Notes on odd values of its variables, one for each.
spec::Notes notes_of_variables(const RunArguments& arguments, const JobSpec& spec);

// The note for a job that names only some of a node's resources: it holds all of the others, too
// ("the job holds all memory of its node, …"). "" when it names none, or both cpus and memory.
std::string held_besides(const ResourceRequest& asked);

// The environment that --interpreter, --requirements, --pip, --conda-file, --image or --environment
// choose. Reads the files that they name. nullopt: none of them was given.
Result<std::optional<spec::EnvironmentChoice>> environment_of(const RunArguments& arguments,
                                                              spec::Notes& notes);

}  // namespace lockstep::cli
