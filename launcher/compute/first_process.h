#pragma once
// Process 1 of a machine that is a container: a shell script that keeps the agent.

#include <string>

#include "launcher/compute/contract.h"

namespace lockstep::compute {

// The script's arguments: the agent's home, the agent's program, accounts_for(), and the agent's
// arguments. The script uses only the shell, because an image need not have anything else. It adds
// the accounts, reaps processes that jobs leave, and restarts the agent if that dies, so that jobs
// continue. The token is read from standard input and passed on through a pipe: no argument and no
// file holds it.
std::string first_process();

// "NAME:UID:GID" on each line: the accounts that jobs may run as. These are the accounts of the
// request, with the ids of this machine's user directory, or with new ids that are stored in the
// target's directory (STATE/accounts), so that a name keeps its id. If the launcher is not root,
// its own account is added. Accounts that do not fit into one argument of a command are left out.
std::string accounts_for(const Request& request);

// A script for a container that runs: adds the accounts ($0) that are missing. It prints how many
// it has added, and if any, ends the agent of the home $1: the next one knows them.
std::string add_accounts_script();

}  // namespace lockstep::compute
