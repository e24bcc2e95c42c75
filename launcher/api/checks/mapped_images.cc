#include "launcher/api/checks/mapped_images.h"

#include <fmt/format.h>

#include "common/domain/job/pipeline.h"
#include "common/grammar/image_name.h"

namespace lockstep::launcher {
namespace {

// The environment of the job, if it names an image; nullptr: it does not.
const DockerEnvironment* named_image(const JobSpec& spec) {
  if (!spec.environment) return nullptr;
  const auto* docker = std::get_if<DockerEnvironment>(&spec.environment->definition);
  const bool has_name = docker != nullptr && !docker->build && check_image_name(docker->image);
  return has_name ? docker : nullptr;
}

void add_image(const JobSpec& spec, std::set<std::string>& images) {
  if (const DockerEnvironment* docker = named_image(spec)) images.insert(docker->image);
}

// Decides what to do with conda packages on an image that is mapped to `target`.
Status take_packages(const DockerEnvironment& asked, std::optional<EnvironmentSpec>& target) {
  if (!asked.conda) return {};
  auto* image = target ? std::get_if<DockerEnvironment>(&target->definition) : nullptr;
  if (image != nullptr && !image->conda) {
    image->conda = asked.conda;
    return {};
  }
  return make_error(
      ErrorCode::unsupported,
      fmt::format("environment.conda_file: cannot be installed on image '{}', because the "
                  "operator's environments.map has jobs with this image run in an environment "
                  "instead; leave 'image' out to have the packages without a container, or leave "
                  "'conda_file' out",
                  asked.image));
}

Status replace(JobSpec& spec, const spec::MappedImages& mapped) {
  spec.replaced_environment.reset();
  const DockerEnvironment* asked = named_image(spec);
  const auto found = asked == nullptr ? mapped.end() : mapped.find(asked->image);
  if (found == mapped.end()) return {};
  std::optional<EnvironmentSpec> target = found->second;
  TRY(take_packages(*asked, target));
  spec.replaced_environment = std::exchange(spec.environment, std::move(target));
  return {};
}

}  // namespace

Status replace_images(JobSpec& spec, const FindMappedImages& find) {
  std::set<std::string> images;
  add_image(spec, images);
  if (spec.pipeline)
    for (const PipelineStep& step : spec.pipeline->steps) add_image(step.spec, images);
  spec::MappedImages mapped;
  if (!images.empty()) {
    TRY_ASSIGN(mapped, find(images));
  }
  TRY(replace(spec, mapped));
  if (!spec.pipeline) return {};
  PipelineSpec pipeline = *spec.pipeline;
  for (PipelineStep& step : pipeline.steps)
    if (const Status replaced = replace(step.spec, mapped); !replaced)
      return make_error(replaced.error().code,
                        fmt::format("jobs.{}.{}", step.name, replaced.error().message));
  spec.pipeline = std::move(pipeline);
  return {};
}

}  // namespace lockstep::launcher
