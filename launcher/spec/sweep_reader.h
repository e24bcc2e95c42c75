#pragma once
// What makes a job or a step a sweep: `search_space`, `sampling_algorithm`, `objective`,
// `early_termination`, `limits` and `trial`. Everything else of it is read as of a command: the
// trial's keys become the job's own.

#include <map>
#include <string>

#include "common/domain/sweep.h"
#include "launcher/spec/conda_file.h"
#include "launcher/spec/faults.h"
#include "launcher/spec/yaml_tree.h"

namespace lockstep::spec {

struct ReadSweep {
  SweepSpec spec;
  std::map<std::string, Place> places;  // of the names in its search space
  bool is_good = true;                  // false: its faults are said, and `spec` is not whole
};

// Whether the job names its trial as a component: a file, azureml:NAME:VERSION, or a mapping that
// declares inputs or outputs.
bool has_component_as_trial(const YamlNode& own);

// `own` is the mapping of a job or a step of type sweep. Takes the keys of the sweep out of it;
// what stays is the mapping of a command. Its `component`, if any, is the trial's; its
// `limits.timeout` is the trial's time-out.
ReadSweep take_sweep(const Source& source, YamlNode& own, Faults& faults, Notes& notes);

// For each parameter that stands in none of these texts: that it is found in a variable. `texts`
// have expressions in the form of expression_of("search_space", NAME).
void note_unread_parameters(const Source& source, const ReadSweep& sweep,
                            const std::vector<std::string>& texts, Notes& notes);

}  // namespace lockstep::spec
