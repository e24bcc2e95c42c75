#include "launcher/api/viewer.h"

namespace lockstep::launcher {
namespace {

ExitReport without_words(ExitReport report) {
  report.message.clear();
  report.stderr_tail.clear();
  return report;
}

// Name, state, place and resources.
JobView outline_of(JobView view) {
  JobSpec& spec = view.spec;
  spec.description.clear();
  spec.tags.clear();
  spec.command = ShellCommand{kHiddenValue};
  spec.environment_variables.clear();
  spec.inputs.clear();
  spec.outputs.clear();
  spec.snapshot.reset();
  spec.environment.reset();
  spec.resources.docker_args.clear();
  const bool waits = view.status == JobStatus::queued;
  if (!waits) view.reason.clear();
  if (view.report) view.report = without_words(*std::move(view.report));
  for (AttemptView& attempt : view.attempts) {
    if (attempt.report) attempt.report = without_words(*std::move(attempt.report));
    attempt.retried.clear();
    attempt.checkpoint.reset();
    for (PartView& part : attempt.parts) {
      part.progress.clear();
      part.outputs.clear();
      part.environment.reset();
    }
  }
  return view;
}

}  // namespace

bool Viewer::may_of(Permission permission, const JobSpec& spec) const {
  return is_allowed(principals_, caller_, permission, {spec.submitter, spec.project, false, {}});
}

bool Viewer::is_audited(const JobSpec& spec) const {
  return may_of(Permission::read_job, spec) &&
         may(principals_, caller_, Permission::read_job, {spec.submitter, spec.project, false, {}})
             .audited;
}

bool Viewer::sees(const EnvironmentVersion& version) const {
  return is_allowed(principals_, caller_, Permission::see_names,
                    {version.owner, version.project, false, {}});
}

JobView Viewer::cut(JobView view) const {
  if (!may_of(Permission::read_job, view.spec)) return outline_of(std::move(view));
  if (may_of(Permission::read_values, view.spec)) return view;
  for (auto& [name, value] : view.spec.environment_variables) value = kHiddenValue;
  return view;
}

}  // namespace lockstep::launcher
