#pragma once
// The flags of `lockstep run` as a JobSpec. Pure, but for --env NAME, which takes our own value,
// and for the files of an environment.

#include <optional>
#include <string>
#include <vector>

#include "common/domain/job_spec.h"
#include "launcher/cli/output.h"
#include "launcher/spec/environment_reader.h"

namespace lockstep::cli {

struct RunArguments {
  int nodes = 1;
  int ranks = 1;  // on each node
  std::string distribution = "none";
  std::string code;              // "" = the current directory
  std::vector<std::string> env;  // K=V, or K
  std::vector<std::string> env_files;
  std::vector<std::string> secrets;  // VARIABLE=SECRET, or SECRET for both
  std::string name;
  std::string project;  // "" = the default one
  std::string compute;  // "" = the default one
  std::string timeout;
  std::optional<int> cpus;
  std::string memory;
  std::optional<int> gpus;
  std::optional<int> pids_limit;
  std::vector<std::string> keep;      // patterns
  std::string from_checkpoint_of;     // a job's name
  std::string log_limit, disk_limit;  // "" = the default
  std::optional<int> retry;
  std::string retry_on;      // "" = the default
  std::string interpreter;   // of these six, which say what the environment is, one,
  std::string requirements;  // or both of `requirements` and `pip`, or of `image` and `conda_file`
  std::vector<std::string> pip;
  std::string conda_file;
  std::string image;
  std::string environment;
  std::string shm_size;     // of a container, "" = the default
  std::string docker_args;  // the same, as a shell takes them
  bool rebuild = false;
  bool detach = false;
  bool quiet = false;
  Format format = Format::table;
  std::vector<std::string> command;
};

Result<JobSpec> spec_of(const RunArguments& arguments);

// "--cpus alone holds all memory of …": what a job that names only a part of a node's resources
// holds besides; "" when it names none, or cpus and memory.
std::string held_besides(const ResourceRequest& asked);

// What --interpreter, --requirements, --pip, --conda-file, --image or --environment say; files are
// read.
// nullopt: none of them was given.
Result<std::optional<spec::EnvironmentChoice>> environment_of(const RunArguments& arguments,
                                                              spec::Notes& notes);

}  // namespace lockstep::cli
