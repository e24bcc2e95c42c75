#pragma once
// The provider of each kind of environment.

#include <memory>

#include "envs/provider.h"

namespace lockstep::envs {

std::unique_ptr<Provider> provider_of_kind(const EnvironmentDefinition& definition);

}  // namespace lockstep::envs
