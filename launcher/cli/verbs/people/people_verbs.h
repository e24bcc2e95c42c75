#pragma once
// Verbs of users, quotas, secrets and the audit, and of a user's own account and settings.

#include "launcher/cli/base/verb_table.h"

namespace lockstep::cli {

void add_user_verbs(VerbTable table);     // adds user …
void add_project_verbs(VerbTable table);  // adds project …
void add_secret_verbs(VerbTable table);   // adds secret set|list|remove
void add_audit_verbs(VerbTable table);    // adds audit, audit verify
void add_quota_verbs(VerbTable table);    // adds quota …
void add_config_verbs(VerbTable table);   // adds config set|unset|get|list
void add_doctor_verb(VerbTable table);    // adds doctor

}  // namespace lockstep::cli
