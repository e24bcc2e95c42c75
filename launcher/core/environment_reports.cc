#include "launcher/core/environment_reports.h"

#include "common/base/cut.h"
#include "launcher/core/environments.h"

namespace lockstep::launcher {

void take_environment(Context& core, NodeId node, const PartReport& report) {
  if (!report.environment) return;
  const EnvironmentReport& news = *report.environment;
  const Job& job = *core.state.job(report.attempt.job);
  const Part* part = core.state.assigned_part(report.attempt, node);
  if (!job.environment || part == nullptr || news.platform.empty()) return;
  using Step = EnvironmentReport::Step;
  const bool asks = news.step == Step::wants_lock || news.step == Step::not_solved;
  if (asks && part->wants_lock != news.platform)
    core.emit(EnvironmentWanted{report.attempt, node, news.platform});
  const Environment& environment = *core.state.environment(*job.environment);
  const bool is_known = part->not_solved && part->not_solved->generation == news.generation &&
                        part->not_solved->platform == news.platform;
  if (news.step == Step::not_solved && environment.generation == news.generation && !is_known)
    core.emit(EnvironmentNotSolved{report.attempt, node, news.generation, news.platform,
                              cut(news.how, kMaxNotSolvedBytes)});
  const bool is_first = environment.generation == news.generation &&
                        environment.locks.count(news.platform) == 0 &&
                        environment.locks.size() < kMaxEnvironmentPlatforms;
  if (news.step == Step::solved && news.lock && is_first)
    core.emit(EnvironmentLocked{
        *job.environment, news.generation, {news.platform, *news.lock}, report.attempt, node});
}

}  // namespace lockstep::launcher
