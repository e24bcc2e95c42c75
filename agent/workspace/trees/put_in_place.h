#pragma once
// Moves files that the agent has made beside a working directory to their place in it, where they
// belong to the ranks' user. Ranks of an earlier try may still run and rename files, so every step
// goes through descriptors. It removes earlier files of that place with the rights of that user.

#include <string>

#include "common/base/result.h"
#include "common/snapshot/checkout/materialize.h"

namespace lockstep::agent {

// Moves content to its place. `beside`: a folder on the same file system, in one that only we can
// write to. `working`: the working directory, or the upper directory of its overlay. `folder`:
// relative, "a/b"; the folders above it are made for `owner`.
Status put_in_place(const std::string& beside, const std::string& working,
                    const std::string& folder, const snapshot::Owner& owner);

}  // namespace lockstep::agent
