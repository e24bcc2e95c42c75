#pragma once
// The provider of pip packages in a virtual environment, made by uv if it is on PATH, else by
// python's own venv and pip. Packages are solved once, to names, versions and hashes, and installed
// without solving. If this node has fetched all of them before, the install needs no network.

#include "envs/provider.h"

namespace lockstep::envs {

class VenvProvider final : public Provider {
 public:
  explicit VenvProvider(VenvEnvironment definition) : definition_(std::move(definition)) {}
  Result<Lock> solve(Toolbox& tools, const Site& site) override;
  Result<Activation> build(Toolbox& tools, const Site& site, const Lock& lock) override;

 private:
  Result<Lock> solve_with_uv(Toolbox& tools, const Site& site, const std::string& uv);
  Result<Lock> solve_with_pip(Toolbox& tools, const Site& site);
  Status make_with_uv(Toolbox& tools, const Site& site, const std::string& uv, const Lock& lock);
  Status make_with_pip(Toolbox& tools, const Site& site, const Lock& lock);

  const VenvEnvironment definition_;
};

}  // namespace lockstep::envs
