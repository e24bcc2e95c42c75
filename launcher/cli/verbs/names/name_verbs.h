#pragma once
// Verbs of registered environments, data, models and components that concern their names and
// versions alike.

#include "common/domain/data/shared_name.h"
#include "launcher/cli/base/verb_table.h"

namespace lockstep::cli {

// adds share, unshare, delete
void add_name_verbs(CLI::App& group, VerbTable table, NameKind kind);
void add_version_update_verb(CLI::App& group, VerbTable table, NameKind kind);  // adds update
void add_environment_archive_verbs(CLI::App& group, VerbTable table);  // adds archive, restore

}  // namespace lockstep::cli
