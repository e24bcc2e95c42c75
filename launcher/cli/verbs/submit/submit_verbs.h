#pragma once
// Verbs that make jobs or change them.

#include "launcher/cli/base/verb_table.h"

namespace lockstep::cli {

void add_run_verb(VerbTable table);                        // adds run
void add_create_verb(CLI::App& group, VerbTable table);    // adds job create
void add_resume_verb(CLI::App& group, VerbTable table);    // adds job resume
void add_delete_verb(CLI::App& group, VerbTable table);    // adds job delete
void add_validate_verb(CLI::App& group, VerbTable table);  // adds job validate
void add_update_verb(CLI::App& group, VerbTable table);    // adds job update
CLI::Validator priority_word();                            // low, medium or high
void add_share_verbs(CLI::App& group, VerbTable table);    // adds job share, job unshare
void add_archive_verbs(CLI::App& group, VerbTable table);  // adds job archive, job restore
void add_snapshot_verb(VerbTable table);                   // adds snapshot
void add_init_verb(VerbTable table);                       // adds init

}  // namespace lockstep::cli
