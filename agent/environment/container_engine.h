#pragma once
// The agent's own calls to a container engine: check that an image still exists, remove an image's
// name, and list and remove the containers with one of our labels. It calls the program that
// lockstep-env found (envs/docker/record.h) and blocks until it answers. For worker threads.

#include <map>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace lockstep::agent {

struct EngineProgram {
  std::string path;
  std::map<std::string, std::string> variables;  // the engine program's whole environment
  friend auto operator<=>(const EngineProgram&, const EngineProgram&) = default;
};

struct OwnContainer {
  std::string id;
  std::map<std::string, std::string> labels;
};

struct ImageHere {
  bool is_here = false;
  std::string named_now;  // id of another image that has the name now; "" = none
};
// Looks for an image. Returns unavailable if the engine does not answer.
Result<ImageHere> look_for_image(const EngineProgram& engine, const std::string& id,
                                 const std::string& name = "");
// Removes a name of an image. The engine removes the image with its last name, but never an image
// that a container uses.
Status remove_name(const EngineProgram& engine, const std::string& name);
// The containers with this label, running or not.
Result<std::vector<OwnContainer>> containers_with(const EngineProgram& engine,
                                                  const std::string& label);
// Removes the container and kills its processes.
Status remove_container(const EngineProgram& engine, const std::string& id);

}  // namespace lockstep::agent
