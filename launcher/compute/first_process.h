#pragma once
// Process 1 of a machine that is a container: a shell script that keeps the agent.

#include <string>

#include "launcher/compute/contract.h"

namespace lockstep::compute {

// Its words: the agent's home, the agent's program, accounts_for(), and what the agent gets.
// It uses nothing but the shell, which is all that an image has to have. It adds the accounts,
// reaps what jobs leave, and starts the agent again when that dies, so that jobs stay. The token is
// read from standard input and goes on through a pipe: no argument and no file holds it.
std::string first_process();

// "NAME:UID:GID" on each line: the accounts that jobs may run as. Those of the request, with the
// ids that this machine's directory has, or with ids of their own, which the target's directory
// keeps (STATE/accounts): a name keeps its id when others come. If the launcher is not root, its
// own account, too. What would be too long for a word of a command is left out.
std::string accounts_for(const Request& request);

// For a container that runs: adds the accounts ($0) that are not there. It prints how many it has
// added, and if any, ends the agent of the home $1: the next one knows them.
std::string add_accounts_script();

}  // namespace lockstep::compute
