#pragma once
// `settings` of a pipeline. As on Azure, unknown settings are accepted; a note names them.

#include <optional>
#include <string>
#include <vector>

#include "launcher/files/environment/conda_file.h"
#include "launcher/files/yaml/faults.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

struct PipelineSettings {
  struct Named {
    std::string step;
    Place place;
  };
  const YamlNode* compute = nullptr;  // default_compute, or the pipeline's `compute`
  std::string datastore;              // the default_datastore; "": the launcher's
  bool continue_on_step_failure = true;
  bool force_rerun = false;
  std::optional<Named> on_init, on_finalize;
};

// Reads the `settings` of `pipeline`, a mapping. Settings that end or begin a run are taken from
// the outermost pipeline alone.
PipelineSettings read_settings(const Source& source, const YamlNode& pipeline, bool is_outermost,
                               Faults& faults, Notes& notes);

}  // namespace lockstep::spec
