#pragma once
// The common parts of the verbs that register data, models and components.

#include <map>
#include <string>
#include <vector>

#include "common/domain/data/asset.h"
#include "launcher/cli/base/verb_context.h"

namespace lockstep::cli {

// The values of --tags. invalid_argument: one is not NAME=VALUE.
Result<std::map<std::string, std::string>> tags_of(const std::vector<std::string>& words);

// Says that description and tags stay as they are, if the version that was registered is one that
// was there, with others.
void say_what_stays(Context& context, const RegisteredAsset& asked, const RegisteredAsset& has);

}  // namespace lockstep::cli
