#pragma once
// The provider of user-managed environments: it uses an interpreter that is already on the node and
// installs nothing. Two small scripts make `python` and `python3` run that interpreter (with a
// link, Python would look for another installation, PEP 405).

#include "envs/provider.h"

namespace lockstep::envs {

class HostProvider final : public Provider {
 public:
  explicit HostProvider(HostEnvironment definition) : definition_(std::move(definition)) {}
  Result<Lock> solve(Toolbox& tools, const Site& site) override;
  Result<Activation> build(Toolbox& tools, const Site& site, const Lock& lock) override;

 private:
  const HostEnvironment definition_;
};

// The version that the interpreter reports. Errors name the key of the job file and the problem:
// the interpreter does not exist, may not be executed, or does not answer.
Result<std::string> version_of(Toolbox& tools, const std::string& interpreter);

}  // namespace lockstep::envs
