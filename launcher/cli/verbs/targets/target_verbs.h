#pragma once
// Verbs of targets, nodes and sizes.

#include "launcher/cli/base/verb_table.h"

namespace lockstep::cli {

void add_up_verbs(VerbTable table);    // adds up, down, status
void add_top_verb(VerbTable table);    // adds top
void add_node_verbs(VerbTable table);  // adds node list|show|token|drain|resume
// adds compute create|list|show|update|attach|list-nodes|…
void add_compute_verbs(VerbTable table);
void add_instance_verbs(CLI::App& group, VerbTable table);    // adds compute start, stop, restart
void add_detach_verbs(CLI::App& group, VerbTable table);      // adds compute detach, compute delete
void add_connect_ssh_verb(CLI::App& group, VerbTable table);  // adds compute connect-ssh
void add_compute_log_verb(CLI::App& group, VerbTable table);  // adds compute log
void add_size_verbs(VerbTable table);                         // adds size …
void add_list_sizes_verb(CLI::App& group, VerbTable table);   // adds compute list-sizes

}  // namespace lockstep::cli
