#include "envs/program/providers.h"

#include "envs/conda/conda.h"
#include "envs/docker/docker.h"
#include "envs/host/host.h"
#include "envs/venv/venv.h"

namespace lockstep::envs {

std::unique_ptr<Provider> provider_of_kind(const EnvironmentDefinition& definition) {
  if (const auto* host = std::get_if<HostEnvironment>(&definition))
    return std::make_unique<HostProvider>(*host);
  if (const auto* conda = std::get_if<CondaEnvironment>(&definition))
    return std::make_unique<CondaProvider>(*conda);
  if (const auto* docker = std::get_if<DockerEnvironment>(&definition))
    return std::make_unique<DockerProvider>(*docker);
  return std::make_unique<VenvProvider>(std::get<VenvEnvironment>(definition));
}

}  // namespace lockstep::envs
