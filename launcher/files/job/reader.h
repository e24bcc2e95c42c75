#pragma once
// Turns a YAML tree into the JobSpec of a command: checks every key against the table of keys.h,
// then fills the fields. It reads only the files of the environment, through `read_text`; the code
// directory is only named.

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/job/spec.h"
#include "launcher/files/data/input_reader.h"
#include "launcher/files/environment/environment_reader.h"
#include "launcher/files/yaml/faults.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

// A file or folder that comes into the source folder by its name.
struct Include {
  std::string path;  // as written; after find_includes: absolute, without "/" at its end
  Place place;
};

struct ReadJob {
  JobSpec spec;
  std::optional<std::string> code;  // as written
  Place code_place;
  std::vector<Include> includes = {};               // `additional_includes`
  bool keep_links = false;                          // true: `lockstep.links: keep`
  std::optional<Place> compute_place = {};          // absent: the file names no target
  std::optional<EnvironmentReference> environment;  // absent: spec.environment is complete
  std::optional<BuildFolder> build;                 // the build folder of spec.environment
  Notes notes;
  std::vector<LocalData> local_data;  // the local paths of inputs of `spec`
  std::optional<ArraySpec> array = {};
  std::map<std::string, std::string> where = {};  // the same field as in JobFile
};

// Keys for whose values the launcher may refuse a job.
inline constexpr std::array<std::string_view, 9> kKeysOfTheLauncher{"compute",
                                                                    "environment",
                                                                    "lockstep.after",
                                                                    "lockstep.from_checkpoint_of",
                                                                    "lockstep.nodes",
                                                                    "lockstep.project",
                                                                    "lockstep.resources",
                                                                    "name",
                                                                    "resources.instance_count"};

// Environments that have been read, by their places: a thousand steps may share a component.
class ReadEnvironments {
 public:
  Result<EnvironmentChoice> read(const Source& source, const YamlNode& node,
                                 const ReadText& read_text, Notes& notes);

 private:
  std::map<std::pair<const Source*, std::size_t>, Result<EnvironmentChoice>> known_;
};

// Inputs and outputs of a step: the pipeline says them, so that the step's tree has none.
struct StepPorts {
  ReadInputs inputs;
  std::set<std::string> unset;  // optional inputs without a value
  std::vector<OutputSpec> outputs;
  std::map<std::string, std::string> output_where = {};  // the places of the outputs' paths
};

// Adds every fault, with its place, to `faults`. If there are any, the returned job has what could
// be read beside them.
ReadJob read_job(const Source& source, YamlNode root, const ReadText& read_text, Faults& faults);
// Reads only name, texts, tags and project: the head of a pipeline.
ReadJob read_job_head(const Source& source, YamlNode root, Faults& faults);
// Reads a command step, together with its component, as read_job does.
ReadJob read_step(const Source& source, YamlNode root, StepPorts ports, const ReadText& read_text,
                  ReadEnvironments& environments, Faults& faults);

}  // namespace lockstep::spec
