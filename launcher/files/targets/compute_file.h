#pragma once
// Turns an Azure ML CLI v2 compute file (YAML), with --set overrides, into a ComputeSpec. An error
// lists the problems, one per line (faults.h). A line begins with FILE:LINE:COLUMN, or with
// "--set k.l=v". Features of Azure that Lockstep does not have yet are refused by name.

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/domain/targets/compute.h"
#include "launcher/files/yaml/faults.h"

namespace lockstep::spec {

Result<ComputeSpec> load_compute(const std::string& path,
                                 const std::vector<std::string>& overrides = {});
// The same for a text from anywhere; errors call it `name`.
Result<ComputeSpec> parse_compute(const std::string& name, std::string_view text,
                                  const std::vector<std::string>& overrides = {});

// Reads the name of a type. Upper and lower case are the same, as for az. Returns unsupported for a
// type that only Azure has.
Result<ComputeType> compute_type(const std::string& word);
// The node source of a target of this type. `word` "": the file does not name one.
Result<NodeSource> node_source(ComputeType type, const std::string& word);

}  // namespace lockstep::spec
