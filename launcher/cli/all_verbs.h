#pragma once
// All verbs of `lockstep`, and what `lockstep --help` says.

#include "launcher/cli/base/verb_table.h"

namespace lockstep::cli {

void add_verbs(VerbTable table);
// completion_verb.cc has this verb, which describes all verbs.
void add_completion_verb(VerbTable table);

}  // namespace lockstep::cli
