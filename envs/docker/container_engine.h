#pragma once
// The container engine of this node, docker or podman, called by its command line program. Callers
// that inspect and build images need not know which of the two it is. It runs as the agent's user.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/environment/definition.h"
#include "envs/tool.h"
#include "envs/toolbox.h"

namespace lockstep::envs {

struct Image {
  std::string id;                    // "sha256:…"
  std::string architecture;          // Go's name: "amd64"
  std::vector<std::string> digests;  // "debian@sha256:…": its names in registries
  std::uint64_t bytes = 0;
  std::map<std::string, std::string> variables;
  std::string user;  // the user that it would start as
  bool has_entrypoint = false;
  bool has_volumes = false;
};

struct ImageOrder {
  std::string context;     // the folder of the build context
  std::string dockerfile;  // absolute
  std::string tag;
  std::string scratch;        // a folder to write to
  bool from_nothing = false;  // do not use the build cache
  // the account of the build: builds of other accounts do not share its `RUN --mount=type=cache`
  std::string account = {};
};

class ContainerEngine {
 public:
  // The engine that the agent's LOCKSTEP_CONTAINER_ENGINE names; else docker, if its daemon
  // answers; else podman. unavailable: there is none; the message says what to do.
  static Result<ContainerEngine> find(Toolbox& tools);

  const std::string& program() const { return container_.engine; }
  const std::string& name() const { return name_; }  // "docker 20.10.24", "podman 4.3.1, rootless"
  // The engine's properties; the members about an image are not set.
  const Container& container() const { return container_; }
  bool mounts_lead_out() const { return mounts_lead_out_; }  // see EngineInfo

  // nullopt: the image is not there
  Result<std::optional<Image>> inspect(const std::string& name) const;
  Status pull(const std::string& name) const;
  Result<std::string> build(const ImageOrder& order) const;  // returns the image's id
  // Saves an image as files of an existing folder of ours.
  Status save(const std::string& id, const std::string& folder) const;
  // Loads an image, without a name, from the folder `inner` of `folder`, which is ours. The content
  // may come from another node: returns corrupt if it is not an image. The caller must then ask
  // whether the wanted image is there.
  Status load(const std::string& folder, const std::string& inner) const;
  Status tag(const std::string& id, const std::string& tag) const;
  // Runs a container to its end on the host's network. The container is removed, also if we are
  // told to stop.
  Result<Toolbox::Answer> run_once(const Words& options, const Words& rest) const;

 private:
  explicit ContainerEngine(Toolbox& tools) : tools_(&tools) {}
  static Result<ContainerEngine> ask(Toolbox& tools, const std::string& program);
  Result<Toolbox::Answer> run(const Words& words,
                              Toolbox::Output output = Toolbox::Output::log) const;

  Toolbox* tools_;
  std::string name_;
  Container container_;
  bool has_buildx_ = false;
  bool mounts_lead_out_ = false;
};

}  // namespace lockstep::envs
