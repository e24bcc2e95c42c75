#pragma once
// Verbs that show what became of jobs, and fetch it; and the group `job` with all its verbs.

#include "launcher/cli/base/verb_table.h"

namespace lockstep::cli {

void add_job_verbs(VerbTable table);  // job create|list|show|stream|logs|download|cancel|…
void add_list_verb(CLI::App& group, VerbTable table);      // job list
void add_download_verb(CLI::App& group, VerbTable table);  // job download
void add_events_verb(CLI::App& group, VerbTable table);    // job events
void add_metrics_verb(CLI::App& group, VerbTable table);   // job metrics
void add_log_verbs(CLI::App& group, VerbTable table);      // job stream, job logs
void add_files_verbs(CLI::App& group, VerbTable table);    // job files, job cat
void add_compare_verb(CLI::App& group, VerbTable table);   // job compare

}  // namespace lockstep::cli
