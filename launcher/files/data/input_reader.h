#pragma once
// `inputs` of a job file: literals, and data (files, folders, addresses).

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/domain/data/inputs.h"
#include "launcher/files/yaml/faults.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

// A data input whose file is on the machine of the one who submits, or is fetched there.
struct LocalData {
  std::string name;   // the input's name
  std::string path;   // as written, without "file:"; after find_data: as this process opens it
  Place place;        // the place of the path
  std::string where;  // the place of the path, as "FILE:LINE:COL"
  std::string url;    // a URL to fetch before the capture; then `path` is ""
};

struct ReadInputs {
  std::map<std::string, std::string> literals;
  std::vector<DataInput> data;  // without trees
  std::vector<LocalData> local;
  // The place of the path of each of `data`: "FILE:LINE:COL".
  std::map<std::string, std::string> where = {};
};

// The name of an input, and its properties that are not in its own mapping.
struct DataTraits {
  std::string name;
  std::optional<InputType> type = {};  // used if the input's mapping has none
  std::optional<InputMode> mode = {};  // used also if the input's mapping has one
};

// Reads one input of data and adds it to `out`. `node` is a mapping {type, path, mode}, whose shape
// is checked; `place`: of its key.
Status read_data(const Source& source, const YamlNode& node, const Place& place,
                 const DataTraits& traits, ReadInputs& out);

// The values of its `type` and `mode`; nullopt: it has none.
Result<std::optional<InputType>> read_data_type(const Source& source, const YamlNode& node,
                                                const std::string& name);
Result<std::optional<InputMode>> read_data_mode(const Source& source, const YamlNode& node,
                                                const std::string& name);

// Reads inputs. `node` is the mapping `inputs`, whose shape is checked. Every fault is added to
// `faults`.
ReadInputs read_inputs(const Source& source, const YamlNode& node, Faults& faults);

// Resolves relative paths against the job file's folder, checks that each file or folder is there
// and is of its input's type, and fills the input's file name, or a direct input's address. A
// direct path need not exist here: each node has its own.
Status find_data(const Source& source, LocalData& local, DataInput& input);

}  // namespace lockstep::spec
