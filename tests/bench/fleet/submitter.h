#pragma once
// A client that submits many jobs at once over one connection, with a window of unanswered
// requests, and waits until all of them are final.

#include <string>

#include "common/base/result.h"

namespace lockstep::fleet {

struct SubmitOptions {
  std::string home;      // LOCKSTEP_HOME, for the user's key
  std::string endpoint;  // the launcher's endpoint.json
  std::string prefix = "load";
  int jobs = 1;
  int window = 500;
  int nodes = 1;  // of each job
  int cpus = 0;   // on each node; 0: the whole node
  bool wait = true;
};

// Prints one line of JSON: when it began (CLOCK_MONOTONIC, ns), and the seconds until all jobs were
// accepted and until all were final.
Status submit(const SubmitOptions& options);

}  // namespace lockstep::fleet
