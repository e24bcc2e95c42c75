#pragma once
// Verbs of registered environments, data, models and components that concern their names: share,
// unshare, delete.

#include "common/domain/shared_name.h"
#include "launcher/cli/verbs.h"

namespace lockstep::cli {

void add_name_verbs(CLI::App& group, VerbTable table, NameKind kind);

}  // namespace lockstep::cli
