#pragma once
// A provider solves and builds one kind of environment: host, venv, … Each kind has a folder beside
// this file. A provider runs in lockstep-env as the user who owns the environment, and changes only
// its prefix and its cache.

#include <string>
#include <vector>

#include "common/domain/environment/definition.h"
#include "envs/lock.h"
#include "envs/toolbox.h"

namespace lockstep::envs {

// The part of a Site that only container images use. The agent's user builds the images and owns
// the folders and files. Code that belongs to the job's user runs as the job's user, in a separate
// lockstep-env process.
struct ImageSite {
  std::string home;     // the agent's home, put into the labels of our containers
  std::string spawn;    // lockstep-spawn
  std::string tag;      // the image's name in the engine: "lockstep/env:…"
  std::string record;   // the path of the ImageRecord: see docker/record.h
  std::string context;  // for solve: the image's build context; "" = the image is not built
  // for solve: a folder to save the image in, "" = do not save it; for build: a folder of ours with
  // the lock's tree, which has the image in kImageFolder; "" = not fetched yet
  std::string tree;
  std::string program = {};  // lockstep-env
  std::string user = {};     // the job's user; "" = the agent's
  std::string scratch = {};  // a folder owned by that user, inside one owned by the agent
  std::vector<std::string> cgroup_procs = {};  // files of the cgroups that this user's code joins
  friend bool operator==(const ImageSite&, const ImageSite&) = default;
};

// Folders for package files that nodes fetch from each other. The agent owns `archives` and
// `wanted`. A file in `archives` is <SHA-256>/<name>-<version>-<build>.conda.
struct SharedSite {
  std::string archives;  // "" = nodes do not share package files
  std::string wanted;    // has an empty file for each file to fetch, named by its SHA-256
  std::string fetched;   // owned by the user; fetched files go here, by the same names
  friend bool operator==(const SharedSite&, const SharedSite&) = default;
};

struct Site {
  std::string prefix;  // the place of the built environment: an absolute path that never changes
  std::string cache;   // packages that were fetched before for this user
  bool is_rebuild = false;    // do not reuse packages that were compiled here before
  std::string platform = {};  // conda's, with virtual packages: "linux-64 __cuda=12.4 __glibc=2.36"
  ImageSite image = {};
  SharedSite shared = {};
  friend bool operator==(const Site&, const Site&) = default;
};

class Provider {
 public:
  virtual ~Provider() = default;
  // Called once for all nodes; not called for providers without a lock.
  virtual Result<Lock> solve(Toolbox& tools, const Site& site) = 0;
  // Whether build() needs the lock's tree in site.image.tree; most providers need only the lock.
  virtual Result<bool> wants_tree(Toolbox&, const Site&, const Lock&) { return false; }
  // The SHA-256 of each file that build() would fetch and that other nodes may have.
  virtual Result<std::vector<std::string>> missing(Toolbox&, const Site&, const Lock&) {
    return std::vector<std::string>();
  }
  // Fetches the files named in site.shared.wanted, until it is stopped or fails.
  virtual Status fetch(Toolbox&, const Site&, const Lock&) { return {}; }
  // Called on each node. Builds the environment in `prefix`, from which the caller has removed the
  // files of earlier tries.
  virtual Result<Activation> build(Toolbox& tools, const Site& site, const Lock& lock) = 0;
};

// The platform of this node and a Python version: "linux-x86_64-python3.11" for "3.11.2". A lock
// solved on one node is valid on all nodes with the same platform. The C library is not part of it:
// a node's installer refuses packages that need a newer one.
std::string platform_of(const std::string& python_version);

}  // namespace lockstep::envs
