#pragma once
// The command lines of a container engine for the one container that a runner starts. Pure: it uses
// facts about the node that were found before.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/domain/environment/container_places.h"
#include "common/domain/environment/definition.h"

namespace lockstep::runner {

struct Mount {
  std::string source, target;
  bool is_read_only = false;
  friend bool operator==(const Mount&, const Mount&) = default;
};

struct ContainerPlan {
  Container container;  // engine, image and their features
  std::string name;
  std::map<std::string, std::string> labels;
  std::string hostname;  // "" = the engine's choice
  std::uint32_t uid = 0, gid = 0;
  std::vector<std::uint32_t> groups;  // the user's groups without `gid`
  std::vector<Mount> mounts;
  std::string directory;  // the working directory
  Bytes shm_size;
  std::optional<Bytes> memory;  // set only if the engine can limit it
  int cpus = 1;                 // a relative weight
  int pids_limit = 0;           // processes and threads of all ranks and lockstep-spawn together
  std::vector<int> gpus;        // the node's indexes
  std::vector<std::string> devices;
  std::vector<std::string> arguments;  // the job's docker_args without --env
  // Variables for --env, which are not on the command line.
  std::map<std::string, std::string> variables;
  std::string variables_file;  // the file that holds the variables; "": there are none
  std::string socket;          // lockstep-spawn connects to it, in kRunInside
  friend bool operator==(const ContainerPlan&, const ContainerPlan&) = default;
};

// The words of `docker run …`, the engine's program first.
std::vector<std::string> run_words(const ContainerPlan& plan);
// The words of `docker rm --force NAME`, which kills every process in it.
std::vector<std::string> remove_words(const Container& container, const std::string& name);

}  // namespace lockstep::runner
