#pragma once
// The command lines of a container engine for the one container that a runner starts. Pure: what
// the node is like was found out before.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/domain/container_places.h"
#include "common/domain/environment.h"

namespace lockstep::runner {

struct Mount {
  std::string source, target;
  bool is_read_only = false;
  friend bool operator==(const Mount&, const Mount&) = default;
};

struct ContainerPlan {
  Container container;  // engine, image, and what they can do
  std::string name;
  std::map<std::string, std::string> labels;
  std::string hostname;  // "" = the engine's choice
  std::uint32_t uid = 0, gid = 0;
  std::vector<std::uint32_t> groups;  // others than `gid`
  std::vector<Mount> mounts;
  std::string directory;  // the working directory
  Bytes shm_size;
  std::optional<Bytes> memory;  // only where the engine can limit it
  int cpus = 1;                 // a weight
  int pids_limit = 0;           // processes and threads of all ranks, and of lockstep-spawn
  std::vector<int> gpus;        // as the node counts them
  std::vector<std::string> devices;
  std::vector<std::string> arguments;            // the job's docker_args, but for --env
  std::map<std::string, std::string> variables;  // of --env: kept off the command line
  std::string variables_file;                    // where they stand; "" = there are none
  std::string socket;                            // what lockstep-spawn connects to, in kRunInside
  friend bool operator==(const ContainerPlan&, const ContainerPlan&) = default;
};

// `docker run …`, the engine's program first.
std::vector<std::string> run_words(const ContainerPlan& plan);
// `docker rm --force NAME`: it ends, whatever runs in it.
std::vector<std::string> remove_words(const Container& container, const std::string& name);

}  // namespace lockstep::runner
