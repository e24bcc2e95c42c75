#include "launcher/cli/all_verbs.h"

#include <CLI/CLI.hpp>
#include <string>

#include "launcher/cli/verbs/look/look_verbs.h"
#include "launcher/cli/verbs/names/registry_verbs.h"
#include "launcher/cli/verbs/people/people_verbs.h"
#include "launcher/cli/verbs/ranks/rank_verbs.h"
#include "launcher/cli/verbs/submit/submit_verbs.h"
#include "launcher/cli/verbs/targets/target_verbs.h"

namespace lockstep::cli {

namespace {

constexpr const char* kDescription = "Runs distributed training jobs on the machines you have.";

constexpr const char* kExamples = R"(
Examples:
  lockstep run -- python3 train.py                one process here, with this directory's code
  lockstep run -N 2 -n 4 --distribution pytorch -- python3 train_ddp.py
  lockstep job create -f job.yml --stream         an Azure ML command job
  lockstep job list;  lockstep job stream NAME;  lockstep job logs NAME --rank 3 --tail 20
  lockstep environment create -f env.yml;  lockstep run --environment NAME@latest -- python3 t.py
  lockstep up --nodes 2;  lockstep status;  lockstep top;  lockstep down

No set-up is needed: the first verb that needs a launcher starts one under ~/.lockstep.

Environment:
  LOCKSTEP_HOME       where the local launcher, keys and caches live (default ~/.lockstep)
  LOCKSTEP_LAUNCHER   the endpoint.json of a launcher to use instead of the local one
  LOCKSTEP_COMPUTE    the compute target of jobs that name none (default local)

Exit codes of run, job create --stream and job stream:
  the code of the first rank that failed;  124 timed out;  125 Lockstep failed or refused the job;
  126 not executable;  127 not found;  128+n killed by signal n;  129 SIGHUP (the job continues);
  130 canceled or Ctrl-C;  141 standard output was closed
Of all other verbs: 0, or 1 when it failed or was refused;  130 and 141 as above.
Of all verbs: 2 the command line or the job file is wrong, and nothing was done.)";

}  // namespace

void add_verbs(VerbTable table) {
  CLI::App& app = table.app;
  app.description(kDescription);
  app.set_version_flag("--version", std::string("lockstep ") + LOCKSTEP_VERSION);
  app.footer(kExamples);
  app.require_subcommand(1);
  add_up_verbs(table);
  add_run_verb(table);
  add_job_verbs(table);
  add_environment_verbs(table);
  add_asset_verbs(table);
  add_datastore_verbs(table);
  add_top_verb(table);
  add_node_verbs(table);
  add_compute_verbs(table);
  add_size_verbs(table);
  add_user_verbs(table);
  add_project_verbs(table);
  add_secret_verbs(table);
  add_audit_verbs(table);
  add_quota_verbs(table);
  add_config_verbs(table);
  add_snapshot_verb(table);
  add_doctor_verb(table);
  add_completion_verb(table);
  add_init_verb(table);
}

}  // namespace lockstep::cli
