#pragma once
// The script of the job that is a node: it keeps the agent, and leaves nothing on the node.

#include <string>

namespace lockstep::compute::slurm {

struct NodeJob {
  std::string name;    // the node's name
  std::string scope;   // "LAUNCHER-TARGET"; with name and job the name of a folder on the node
  std::string bundle;  // the folder of the unpacked bundle
  std::string token;   // the token's file
};
// Makes the script. Single quotes are enough to quote each value in it. It contains no secret.
std::string job_script(const NodeJob& job);

}  // namespace lockstep::compute::slurm
