#pragma once
// An Azure ML CLI v2 compute file (YAML), with --set overrides, becomes a ComputeSpec. An error is
// all that is wrong, a line each (faults.h): each begins with FILE:LINE:COLUMN, or with
// "--set k.l=v". What Azure has and Lockstep has not yet is refused by name.

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/domain/compute.h"
#include "launcher/spec/faults.h"

namespace lockstep::spec {

Result<ComputeSpec> load_compute(const std::string& path,
                                 const std::vector<std::string>& overrides = {});
// The same of a text from anywhere; `name` is what errors call it.
Result<ComputeSpec> parse_compute(const std::string& name, std::string_view text,
                                  const std::vector<std::string>& overrides = {});

// "AmlCompute" and "amlcompute" are one word, as for az. unsupported: a type that only Azure has.
Result<ComputeType> compute_type(const std::string& word);
// Good when a target of this type can get its nodes so; "" is what the file says by saying nothing.
Status check_node_source(ComputeType type, const std::string& source);

}  // namespace lockstep::spec
