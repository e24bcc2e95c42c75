#pragma once
// How one kind of environment is checked, solved and built: host, venv, … Each is a folder beside
// this file. A provider runs in lockstep-env, as the user whose environment it is, and touches
// nothing but its prefix and its cache.

#include <memory>
#include <string>
#include <vector>

#include "common/domain/environment.h"
#include "envs/lock.h"
#include "envs/toolbox.h"

namespace lockstep::envs {

// The additional inputs for images. Folders and files belong to the agent's user, who makes images;
// code that the job's user chose runs as that user, in a lockstep-env of its own.
struct ImageSite {
  std::string home;          // the agent's: labels of containers say whose they are
  std::string spawn;         // lockstep-spawn
  std::string tag;           // that keeps the image: "lockstep/env:…"
  std::string record;        // a file: what the engine was given; see docker/record.h
  std::string context;       // to solve: a folder, what it is built from; "" = it is not built
  std::string tree;          // to solve: a folder for the image, "" = nobody else needs it;
                             // to build: one that holds it, "" = it was not asked for yet
  std::string program = {};  // lockstep-env
  std::string user = {};     // the job's; "" = the agent's
  std::string scratch = {};  // a folder of that user's, in one of the agent's
  std::vector<std::string> cgroup_procs = {};  // files of cgroups that code of that user joins
  friend bool operator==(const ImageSite&, const ImageSite&) = default;
};

// Files of packages, as their channel has them, which nodes take from each other. Folders; the
// first two are the agent's. A file that is here:
// archives/<SHA-256>/<name>-<version>-<build>.conda.
struct SharedSite {
  std::string archives;  // "" = there is nobody to take them from
  std::string wanted;    // a file for each that is to be fetched, named by its SHA-256
  std::string fetched;   // the user's: they go here, by the same names
  friend bool operator==(const SharedSite&, const SharedSite&) = default;
};

struct Site {
  std::string prefix;         // where it is built; an absolute path that does not change any more
  std::string cache;          // packages that were fetched before, of this user
  bool is_rebuild = false;    // what was compiled here before is not used again
  std::string platform = {};  // conda's, with virtual packages: "linux-64 __cuda=12.4 __glibc=2.36"
  ImageSite image = {};
  SharedSite shared = {};
  friend bool operator==(const Site&, const Site&) = default;
};

class Provider {
 public:
  virtual ~Provider() = default;
  // Once for all nodes. Providers without a lock are not asked.
  virtual Result<Lock> solve(Toolbox& tools, const Site& site) = 0;
  // Whether building needs the lock's tree here, in site.image.tree; most need the lock alone.
  virtual Result<bool> wants_tree(Toolbox&, const Site&, const Lock&) { return false; }
  // The SHA-256 of each file that build() would fetch, and that other nodes may have.
  virtual Result<std::vector<std::string>> missing(Toolbox&, const Site&, const Lock&) {
    return std::vector<std::string>();
  }
  // Fetches what site.shared names, until it is stopped or fails.
  virtual Status fetch(Toolbox&, const Site&, const Lock&) { return {}; }
  // Builds on each node, into `prefix`. The caller has removed the remains of earlier tries.
  virtual Result<Activation> build(Toolbox& tools, const Site& site, const Lock& lock) = 0;
};

std::unique_ptr<Provider> provider_of_kind(const EnvironmentDefinition& definition);

// A lock is valid on all nodes with the same platform: "linux-x86_64-python3.11" for "3.11.2". The
// C library is not part of it: the installer refuses packages that are too new for a node.
std::string platform_of(const std::string& python_version);

}  // namespace lockstep::envs
