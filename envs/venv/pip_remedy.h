#pragma once
// Says what a person can do about a package that pip did not find, or an index that it did not
// reach: one line below pip's own words. Pure; the names and versions in it come from indexes and
// users, so they are shortened and made printable.

#include <string>
#include <string_view>

#include "common/base/result.h"

namespace lockstep::envs {

// The advice. `code`: the error that tool_failure() made of pip's output, whose last lines are
// `tail`. "": none is known.
std::string pip_remedy(ErrorCode code, std::string_view tail);

}  // namespace lockstep::envs
