#pragma once
// The provider of container images: an image by name, or built from a folder, with conda packages
// added if the job asks for them. Solving finds the image's id. The environment is ready on a node
// when its engine has the image and a probe has found out what the image supports.

#include "envs/docker/container_engine.h"
#include "envs/provider.h"

namespace lockstep::envs {

class DockerProvider final : public Provider {
 public:
  explicit DockerProvider(DockerEnvironment definition) : definition_(std::move(definition)) {}
  Result<Lock> solve(Toolbox& tools, const Site& site) override;
  Result<bool> wants_tree(Toolbox& tools, const Site& site, const Lock& lock) override;
  Result<Activation> build(Toolbox& tools, const Site& site, const Lock& lock) override;

 private:
  Result<Image> found(Toolbox& tools, const ContainerEngine& engine, const Site& site,
                      Lock& lock) const;
  Result<Image> built(Toolbox& tools, const ContainerEngine& engine, const Site& site) const;
  std::string name() const;

  const DockerEnvironment definition_;
};

}  // namespace lockstep::envs
