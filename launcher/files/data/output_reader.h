#pragma once
// Reads one output of a job, a step or a component: its type, mode and path.

#include <optional>
#include <string>

#include "common/domain/data/inputs.h"
#include "common/domain/data/outputs.h"
#include "launcher/files/yaml/faults.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

struct ReadOutput {
  std::string name;
  std::optional<InputType> type;  // as written; models and tables are folders
  std::optional<OutputMode> mode;
  std::string path;                       // a path in a datastore; "": none
  std::string where = {};                 // the place of the path: "FILE:LINE:COL"
  std::optional<OutputAsset> asset = {};  // its type is only filled in by output_spec()
};

// Reads an output. `node` is null, or a mapping whose shape is checked. Every fault is added to
// `faults`.
ReadOutput read_output(const Source& source, const std::string& name, const YamlNode& node,
                       Faults& faults);

// Files are collected as a file or as a folder, whatever they hold.
OutputSpec output_spec(const ReadOutput& output);

}  // namespace lockstep::spec
