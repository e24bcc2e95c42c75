#pragma once
// pip packages in a virtual environment: by uv where PATH has it, else by python's own venv and
// pip. Solved once to names, versions and hashes; installed without solving, and from what this
// node has fetched before when that is all.

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
