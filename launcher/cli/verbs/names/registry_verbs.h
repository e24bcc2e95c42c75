#pragma once
// Verbs of named things: environments, data, models, components; and datastores.

#include "launcher/cli/base/verb_table.h"

namespace lockstep::cli {

void add_environment_verbs(VerbTable table);  // environment …
void add_asset_verbs(VerbTable table);        // data …, model …, component …
void add_component_create_verb(CLI::App& group, VerbTable table);  // component create
void add_datastore_verbs(VerbTable table);                         // datastore list|show

}  // namespace lockstep::cli
