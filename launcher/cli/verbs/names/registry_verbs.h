#pragma once
// Verbs of named things: environments, data, models, components; and datastores.

#include "launcher/cli/base/verb_table.h"

namespace lockstep::cli {

void add_environment_verbs(VerbTable table);  // adds environment …
void add_asset_verbs(VerbTable table);        // adds data …, model …, component …
void add_component_create_verb(CLI::App& group, VerbTable table);  // adds component create
void add_datastore_verbs(VerbTable table);                         // adds datastore list|show

}  // namespace lockstep::cli
