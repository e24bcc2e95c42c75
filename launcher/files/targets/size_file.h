#pragma once
// Files with sizes: the launcher's catalogue (sizes.yml, which is a part of the program), and
// operators' files. An operator's file is one size, or has a list under `sizes` and perhaps
// `series` that these sizes name. Errors have the form of job_file.h.

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/domain/targets/size.h"

namespace lockstep::spec {

// The catalogue of this build.
Result<SizeCatalogue> builtin_sizes();

Result<SizeCatalogue> load_sizes(const std::string& path,
                                 const std::vector<std::string>& overrides = {});
// The same for a text from anywhere; errors call it `name`.
Result<SizeCatalogue> parse_sizes(const std::string& name, std::string_view text,
                                  const std::vector<std::string>& overrides = {});

}  // namespace lockstep::spec
