#pragma once
// Packages of conda channels, and pip packages on top of them. Solved once to addresses and hashes,
// for the lowest versions among the nodes; installed without solving, and without the network if
// this node has all the files. Activated once: see activation.h.

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
