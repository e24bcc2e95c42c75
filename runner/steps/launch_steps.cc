#include "runner/steps/step.h"

namespace lockstep::runner {
namespace {

constexpr LaunchStep kLaunchSteps[] = {
    {"environment", set_environment}, {"command", set_command}, {"identity", set_identity},
    {"binding", set_binding},         {"rlimits", set_rlimits}, {"cgroups", set_cgroups},
};

}  // namespace

Status prepare_launch(const LaunchContext& context, RankLaunch& rank) {
  for (const LaunchStep& step : kLaunchSteps)
    if (const Status done = step.apply(context, rank); !done)
      return done.error().within(std::string("launch step ") + step.name);
  return {};
}

}  // namespace lockstep::runner
