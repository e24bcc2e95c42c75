#pragma once
// The settings of a target whose machines are Slurm jobs. Every value that becomes an argument of
// sbatch, or a part of a job's script, is checked here.

#include <string>
#include <vector>

#include "common/base/result.h"

namespace lockstep::compute::slurm {

struct Settings {
  std::string directory;  // on a file system that the nodes share with this machine
  // The options of sbatch with these names; "": Slurm's configuration decides.
  std::string partition, account, qos, time, constraint;
  std::vector<std::string> options;  // further arguments, each "--name" or "--name=value"
};

// Reads {"directory": "/shared/ann", "partition": "gpu", …}. Returns invalid_argument with the key.
Result<Settings> settings_from(const std::string& settings_json);
// The directory alone, which is what finding and removing machines needs.
Result<Settings> place_from(const std::string& settings_json);

// Whether the options say how much of a node a job gets.
bool shares_nodes(const Settings& settings);

}  // namespace lockstep::compute::slurm
