#pragma once
// Process 1 of a machine that is a container: a shell script that keeps the agent.

#include <string>

namespace lockstep::compute {

// Its words: the agent's home, the agent's program, accounts_of_people(), and what the agent gets.
// It uses nothing but the shell, which is all that an image has to have. It adds the accounts,
// reaps what jobs leave, and starts the agent again when that dies, so that jobs stay. The token is
// read from standard input and goes on through a pipe: no argument and no file holds it.
extern const char* const kFirstProcess;

// "NAME:UID:GID" on each line: accounts of this machine that people have, so that jobs can run as
// them. An ordinary user's launcher runs jobs as that user alone.
std::string accounts_of_people();

}  // namespace lockstep::compute
