#pragma once
// Verbs at the ranks of a running job.

#include "launcher/cli/base/verb_table.h"

namespace lockstep::cli {

void add_shell_verb(CLI::App& group, VerbTable table);     // adds job shell
void add_signal_verb(CLI::App& group, VerbTable table);    // adds job signal
void add_stacks_verb(CLI::App& group, VerbTable table);    // adds job stacks
void add_diagnose_verb(CLI::App& group, VerbTable table);  // adds job diagnose

}  // namespace lockstep::cli
