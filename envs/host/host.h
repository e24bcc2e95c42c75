#pragma once
// Managed by the user: an interpreter that is installed already. `python` and `python3` become two
// small scripts that start it (Python would take a link for another installation, PEP 405).

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

// Asks the interpreter for its version. Errors name the key of the job file and what is wrong: it
// is not there, may not be run, does not answer.
Result<std::string> version_of(Toolbox& tools, const std::string& interpreter);

}  // namespace lockstep::envs
