#include "launcher/api/viewer.h"

#include "launcher/core/environment_requests.h"
#include "launcher/core/users.h"

namespace lockstep::launcher {
namespace {

ExitReport without_words(ExitReport report) {
  report.message.clear();
  report.stderr_tail.clear();
  return report;
}

Object object_of(const JobView& view) {
  return {view.spec.submitter, view.spec.project, view.shared, {}};
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
  spec.keep.clear();
  spec.from_checkpoint_of = {};
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
      part.not_kept.reset();
      part.environment.reset();
    }
  }
  return view;
}

}  // namespace

bool Viewer::may_of(Permission permission, const JobView& view) const {
  return is_allowed(principals_, caller_, permission, object_of(view));
}

bool Viewer::sees(const Job& job) const {
  return is_allowed(principals_, caller_, Permission::see_job, launcher::object_of(job));
}

bool Viewer::reads(const Job& job) const {
  return is_allowed(principals_, caller_, Permission::read_job, launcher::object_of(job));
}

bool Viewer::is_audited(const JobView& view) const {
  return may_of(Permission::read_job, view) &&
         may(principals_, caller_, Permission::read_job, object_of(view)).audited;
}

bool Viewer::sees(const EnvironmentVersion& version) const {
  return may_see(principals_, caller_, version);
}

JobView Viewer::cut(JobView view) const {
  if (!may_of(Permission::read_job, view)) return outline_of(std::move(view));
  if (may_of(Permission::read_values, view)) return view;
  for (auto& [name, value] : view.spec.environment_variables) value = kHiddenValue;
  return view;
}

}  // namespace lockstep::launcher
