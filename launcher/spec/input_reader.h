#pragma once
// `inputs` of a job file: literals, and data (files, folders, addresses).

#include <map>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/domain/inputs.h"
#include "launcher/spec/faults.h"
#include "launcher/spec/yaml_tree.h"

namespace lockstep::spec {

// A data input whose file is on the machine of the one who submits, or is fetched there.
struct LocalData {
  std::string name;   // of the input
  std::string path;   // as written, without "file:"; after find_data: as this process opens it
  Place place;        // of the path
  std::string where;  // the same, "FILE:LINE:COL"
  std::string url;    // to be fetched before it is captured; then `path` is ""
};

struct ReadInputs {
  std::map<std::string, std::string> literals;
  std::vector<DataInput> data;  // without trees
  std::vector<LocalData> local;
};

// `node` is the mapping `inputs`, whose shape is checked. Every fault is added to `faults`.
ReadInputs read_inputs(const Source& source, const YamlNode& node, Faults& faults);

// Resolves relative paths against the job file's folder, checks that each file or folder is there
// and is of its input's type, and fills the input's file name, or a direct input's address. A
// direct path need not exist here: each node has its own.
Status find_data(const Source& source, LocalData& local, DataInput& input);

}  // namespace lockstep::spec
