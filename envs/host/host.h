#pragma once
// User-managed: the interpreter that is there. Nothing is installed; `python` and `python3` become
// that one, by two small scripts (a link would be taken for another installation, PEP 405).

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

// What the interpreter says of itself. Errors name the key of the job file and what is wrong: it is
// not there, may not be run, does not answer.
Result<std::string> version_of(Toolbox& tools, const std::string& interpreter);

}  // namespace lockstep::envs
