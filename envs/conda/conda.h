#pragma once
// The provider of conda packages, with pip packages on top of them. They are solved once, to URLs
// and hashes that work on all nodes of the attempt, and installed without solving. If this node has
// fetched all packages before, the install needs no network. Activated once: see activation.h.

#include "envs/conda/conda_backend.h"
#include "envs/provider.h"

namespace lockstep::envs {

class CondaProvider final : public Provider {
 public:
  explicit CondaProvider(CondaEnvironment definition) : definition_(std::move(definition)) {}
  Result<Lock> solve(Toolbox& tools, const Site& site) override;
  Result<std::vector<std::string>> missing(Toolbox& tools, const Site& site,
                                           const Lock& lock) override;
  Status fetch(Toolbox& tools, const Site& site, const Lock& lock) override;
  Result<Activation> build(Toolbox& tools, const Site& site, const Lock& lock) override;

 private:
  Status solve_pip(Toolbox& tools, const Site& site, CondaBackend& backend, Lock& lock);

  const CondaEnvironment definition_;
};

}  // namespace lockstep::envs
