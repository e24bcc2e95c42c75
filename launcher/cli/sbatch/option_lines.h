#pragma once
// The options that stand in the `#SBATCH` lines of a Slurm script, with the use that `lockstep run`
// has for each. Pure.

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace lockstep::cli {

// The use that `lockstep run` has for an option of sbatch.
enum class SbatchUse {
  nodes,
  ntasks,
  ntasks_per_node,
  cpus_per_task,
  mem,
  mem_per_cpu,
  gres,
  gpus,
  gpus_per_node,
  gpus_per_task,
  time,
  job_name,
  array,
  partition,
  nodelist,
  exclusive,
  requeue,
  no_requeue,
  signal,
  export_variables,
  dependency,
  begin,
  none,     // every job of Lockstep behaves as the option asks
  said,     // a line tells what to use instead
  refused,  // the job would not be the one that is meant
};

struct SbatchOption {
  std::string_view name;
  char letter;  // '\0': none
  bool takes_value;
  SbatchUse use;
  std::string_view instead = "";  // for `said` and `refused`: what to use instead
};

struct SbatchSetting {
  const SbatchOption* option = nullptr;  // null: unknown
  std::string name;                      // the name in the script
  std::string value;
  int line = 0;
};

// Reads the options in the script's order. Errors have the line: "train.sbatch:3: …".
Result<std::vector<SbatchSetting>> read_sbatch_lines(const std::string& file,
                                                     const std::string& text);

}  // namespace lockstep::cli
