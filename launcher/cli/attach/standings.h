#pragma once
// The standings of ranks, read from their nodes' lines of JSON (runner/attach/standing_line.h), and
// written as JSON and as a table for people. The texts are the job's, and may be anything. Pure.

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/api/json/keys/keys.h"

namespace lockstep::cli {

struct ShownStanding {
  struct Count {
    std::string communicator, name;
    std::int64_t count = 0;
  };
  int rank = 0;
  std::string node_name;
  std::string doing, call, on, at, within;
  double still = 0, doing_for = 0;  // seconds
  double cpus = 0;
  int pid = 0, processes = 0, threads = 0, threads_running = 0, threads_in_device = 0, claims = 0,
      exit_code = 0;
  bool connected = false, finalized = false, in_fence = false;
  std::int64_t fences = 0, peer_sockets = 0, acked = 0, received = 0, unacked = 0, retransmits = 0,
               logged = 0;
  std::vector<Count> collectives;
  std::string mpi, nccl, torch;
};

// The standings among a node's lines, which they leave; of ranks of `ranks` alone, each once.
std::vector<ShownStanding> take_standings(const std::string& node_name,
                                          const std::vector<int>& ranks, std::string* lines);

void keys(const ShownStanding& standing, api::See& see);
// "RANK  NODE  DOES  FOR  NO PROGRESS  CPUS  SYSTEM CALL  CODE" and what the columns are; those
// without progress for the longest time first when there are many.
std::string standings_table(const std::vector<ShownStanding>& standings);

}  // namespace lockstep::cli
