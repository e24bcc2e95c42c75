#pragma once
// What the agent itself asks of a container engine: whether an image is still there, to remove an
// image's name, and to list and remove the containers with a label of ours. It calls the program
// that lockstep-env found (envs/docker/record.h), and blocks until it answers; for worker threads.

#include <map>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace lockstep::agent {

struct EngineProgram {
  std::string path;
  std::map<std::string, std::string> variables;  // all that it sees
  friend auto operator<=>(const EngineProgram&, const EngineProgram&) = default;
};

struct OwnContainer {
  std::string id;
  std::map<std::string, std::string> labels;
};

struct ImageHere {
  bool is_here = false;
  std::string named_now;  // the id of another image, which has the name now
};
// unavailable: the engine does not answer.
Result<ImageHere> look_for_image(const EngineProgram& engine, const std::string& id,
                                 const std::string& name = "");
// A name of an image; the image goes with its last one. Never what a container uses.
Status remove_name(const EngineProgram& engine, const std::string& name);
// Those with this label, running or not.
Result<std::vector<OwnContainer>> containers_with(const EngineProgram& engine,
                                                  const std::string& label);
// Kills what runs in it.
Status remove_container(const EngineProgram& engine, const std::string& id);

}  // namespace lockstep::agent
