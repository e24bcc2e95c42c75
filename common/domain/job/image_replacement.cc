#include "common/domain/job/image_replacement.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/domain/job/pipeline.h"

namespace lockstep {
namespace {

constexpr std::size_t kShortDigest = 12;

std::string image_of(const EnvironmentSpec& environment) {
  const auto* docker = std::get_if<DockerEnvironment>(&environment.definition);
  return docker == nullptr ? "" : docker->image;
}

// Results such as "environment sklearn:3", "image 'registry/python:3'" or "a venv environment
// (1f2e3d4c5b6a)".
std::string name_of(const std::optional<EnvironmentSpec>& environment) {
  if (!environment) return "each node's PATH";
  if (!environment->name.empty())
    return fmt::format("environment {}{}{}", environment->name,
                       environment->version.empty() ? "" : ":", environment->version);
  if (const std::string image = image_of(*environment); !image.empty())
    return fmt::format("image '{}'", image);
  return fmt::format("a {} environment ({})", provider_of(environment->definition),
                     digest_of(environment->definition).hex().substr(0, kShortDigest));
}

void add(const JobSpec& spec, std::vector<std::string>& lines) {
  const auto add_once = [&](std::string line) {
    if (std::find(lines.begin(), lines.end(), line) == lines.end())
      lines.push_back(std::move(line));
  };
  if (!spec.replaced_environment) return;
  add_once(fmt::format("image '{}' runs in {} instead, by the operator's environments.map",
                       image_of(*spec.replaced_environment), name_of(spec.environment)));
  if (spec.in_container()) return;
  const auto add_ignored = [&](std::string_view key) {
    add_once(fmt::format("{} is ignored: this job does not run in a container", key));
  };
  if (!spec.resources.docker_args.empty()) add_ignored("resources.docker_args");
  if (spec.resources.shm_size) add_ignored("resources.shm_size");
}

}  // namespace

std::vector<std::string> image_replacement_lines(const JobSpec& spec) {
  std::vector<std::string> lines;
  add(spec, lines);
  if (spec.pipeline)
    for (const PipelineStep& step : spec.pipeline->steps) add(step.spec, lines);
  return lines;
}

}  // namespace lockstep
