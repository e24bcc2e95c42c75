#include "launcher/api/queries/viewer.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <utility>

#include "common/base/utf8.h"
#include "common/domain/targets/provider_settings.h"
#include "common/domain/why/all/redact.h"
#include "common/domain/why/why.h"
#include "launcher/api/queries/compute_texts.h"
#include "launcher/core/access/users.h"
#include "launcher/core/jobs/children.h"
#include "launcher/core/names/objects.h"
#include "launcher/state/found_state.h"
#include "launcher/words/job_text.h"
#include "launcher/words/jobs/say_explain.h"
#include "launcher/words/why.h"

namespace lockstep::launcher {
namespace {

// Receives each text of a view that is made for people, with its class. Reasons: see Viewer::cut.
using TakeText = std::function<void(WordsOf, std::string&)>;
void each_text(ExitReport& report, const TakeText& take) {
  take(WordsOf::output, report.stderr_tail);
  take(WordsOf::output, report.backtrace);
}
void each_text(PartView& part, const TakeText& take) {
  if (!part.why) take(WordsOf::job, part.progress);
  for (std::string& note : part.notes) take(WordsOf::job, note);
  for (std::string& limit : part.limits) take(WordsOf::launcher, limit);
  if (part.environment) take(WordsOf::job, part.environment->how);
}
void each_text(JobView& view, const TakeText& take) {
  if (view.report) each_text(*view.report, take);
  for (AttemptView& attempt : view.attempts) {
    if (attempt.report) each_text(*attempt.report, take);
    for (PartView& part : attempt.parts) each_text(part, take);
  }
}

// Writes the texts of what nodes reported; the core gives the reasons.
void put_texts(PartView& part) {
  const auto texts_of = [](const std::vector<Why>& reasons) {
    std::vector<std::string> texts;
    for (const Why& why : reasons) texts.push_back(words::text_of(why));
    return texts;
  };
  part.notes = texts_of(part.notes_why);
  part.limits = texts_of(part.limits_why);
  if (part.environment && part.environment->why)
    part.environment->how = words::text_of(part.environment->why);
}

// Receives each reason of a view, with its class.
using TakeReason = std::function<void(WordsOf, Why&)>;
void each_reason(PartView& part, const TakeReason& take) {
  for (Why& note : part.notes_why) take(WordsOf::job, note);
  for (Why& limit : part.limits_why) take(WordsOf::launcher, limit);
  if (part.environment) take(WordsOf::job, part.environment->why);
}

// Receives each reason of a view, with its text and its class.
using TakeWhy = std::function<void(WordsOf, Why&, std::string&)>;
void each_why(ExitReport& report, const TakeWhy& take) {
  take(WordsOf::job, report.why, report.message);
  for (PossibleFirst& other : report.also) take(WordsOf::job, other.why, other.message);
}
void each_why(JobView& view, const TakeWhy& take) {
  if (view.report) each_why(*view.report, take);
  for (AttemptView& attempt : view.attempts) {
    if (attempt.report) each_why(*attempt.report, take);
    take(WordsOf::job, attempt.why, attempt.retried);
    for (PartView& part : attempt.parts)
      if (part.why) take(WordsOf::job, part.why, part.progress);
  }
}

void hide_values(JobSpec& spec) {
  for (auto& [name, value] : spec.environment_variables) value = kHiddenValue;
  if (!spec.pipeline) return;
  PipelineSpec pipeline = *spec.pipeline;
  for (PipelineStep& step : pipeline.steps)
    for (auto& [name, value] : step.spec.environment_variables) value = kHiddenValue;
  spec.pipeline = std::move(pipeline);
}

void outline(std::optional<ExitReport>& report) {
  if (!report) return;
  if (report->hang) report->hang = without_contents(*std::move(report->hang));
  if (report->lost_peer) report->lost_peer->address.clear();
}

// A value that the job sets is a value of its variables, and a warning may quote it.
void hide_value(NetworkSetting& setting) {
  if (setting.source != SettingSource::user) return;
  setting.value = kHiddenValue;
  setting.warning.clear();
}

// Reduces a view to name, state, place and resources.
JobView outline_of(JobView view) {
  JobSpec& spec = view.spec;
  spec.description.clear();
  spec.tags.clear();
  spec.command = ShellCommand{kHiddenValue};
  spec.environment_variables.clear();
  spec.inputs.clear();
  spec.data.clear();
  spec.outputs.clear();
  spec.keep.clear();
  if (spec.pipeline) spec.pipeline = PipelineSpec();
  view.merged.clear();
  view.writes.clear();
  outline(view.report);
  spec.from_checkpoint_of = {};
  spec.queue.after.clear();
  spec.snapshot.reset();
  spec.environment.reset();
  spec.replaced_environment.reset();
  spec.resources.docker_args.clear();
  for (AttemptView& attempt : view.attempts) {
    attempt.checkpoint.reset();
    attempt.probe.reset();
    outline(attempt.report);
    for (Found& found : attempt.found) found = without_contents(std::move(found));
    for (PartView& part : attempt.parts) {
      part.outputs.clear();
      part.notes.clear();
      part.notes_why.clear();
      part.not_kept.reset();
      part.environment.reset();
      part.use.reset();
      part.used.clear();
      part.ended.clear();
      part.addresses.clear();
      part.settings.clear();
    }
  }
  return view;
}

}  // namespace

// If the job was deleted meanwhile, the object comes from the view.
Object Viewer::object_of(const JobView& view) const {
  const JobId id(view.spec.name);
  const Job* job = state_.job(id);
  return {view.spec.submitter, view.spec.project, view.shared, id,
          job != nullptr ? job->child_of : JobId()};
}

bool Viewer::is_in_force() const {
  const auto* attempt = std::get_if<AttemptCaller>(&caller_);
  return attempt == nullptr || caller_of(state_, attempt->attempt).has_value();
}

bool Viewer::may_of(Permission permission, const JobView& view) const {
  return is_allowed(state_.principals(), caller_, permission, object_of(view));
}

bool Viewer::sees(const Job& job) const {
  return is_in_force() &&
         is_allowed(state_.principals(), caller_, Permission::see_job, launcher::object_of(job));
}

bool Viewer::reads(const Job& job) const {
  return is_allowed(state_.principals(), caller_, Permission::read_job, launcher::object_of(job));
}

bool Viewer::is_audited(const JobView& view) const {
  return may_of(Permission::read_job, view) &&
         may(state_.principals(), caller_, Permission::read_job, object_of(view)).audited;
}

bool Viewer::is_audited(const Job& job) const {
  return reads(job) &&
         may(state_.principals(), caller_, Permission::read_job, launcher::object_of(job)).audited;
}

bool Viewer::sees(const EnvironmentVersion& version) const {
  return may_see(state_.principals(), caller_, version);
}

bool Viewer::sees_locks_of(const std::string& account) const {
  const User* user = state_.principals().user(owner());
  const bool is_own = account == (user == nullptr ? "" : user->account);
  return is_in_force() &&
         (is_own || is_allowed(state_.principals(), caller_, Permission::choose_account, {}));
}

// A user sees all jobs of their projects. An attempt sees only its own job and its children, so a
// hidden job may be of any project.
HiddenJob Viewer::hidden_job() const {
  return std::holds_alternative<AttemptCaller>(caller_) ? HiddenJob::any
                                                        : HiddenJob::of_another_project;
}

bool Viewer::is_hidden(const JobId& id, Gone gone) const {
  const Job* job = state_.job(id);
  return job == nullptr ? gone == Gone::hidden : !sees(*job);
}

Why Viewer::cut(const Why& why, Gone gone) const {
  return redacted(why, {[&](const JobId& job) { return is_hidden(job, gone); }, hidden_job(),
                        [&](std::string text) { return cut(std::move(text), gone); }});
}

// Texts name jobs as 'NAME' and NAME.ATTEMPT.
std::string Viewer::cut(std::string words, Gone gone) const {
  static const std::string kJob = "job '";
  const std::string hidden = words::job_text(lockstep::hidden(hidden_job()));
  for (auto at = words.find(kJob); at != words.npos; at = words.find(kJob, at + 1)) {
    const auto name = at + kJob.size(), end = words.find('\'', name);
    if (end != words.npos && is_hidden(JobId(words.substr(name, end - name)), gone))
      words.replace(at, end + 1 - at, hidden);
  }
  std::string shown;
  for (std::size_t at = 0; at < words.size();) {
    const auto part_of_name = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
    };
    std::size_t end = at;
    while (end < words.size() && part_of_name(words[end])) ++end;
    std::size_t after = end;
    if (after < words.size() && words[after] == '.')
      while (++after < words.size() && std::isdigit(static_cast<unsigned char>(words[after]))) {
      }
    const bool has_attempt = after > end + 1;
    if (end > at && has_attempt && is_hidden(JobId(words.substr(at, end - at)), Gone::shown)) {
      shown += hidden;
      at = after;
    } else {
      end = std::max(end, at + 1);
      shown += words.substr(at, end - at);
      at = end;
    }
  }
  return shown;
}

std::vector<ComputeView> Viewer::cut(std::vector<ComputeView> views) const {
  if (is_allowed(state_.principals(), caller_, Permission::manage_computes, {}))
    return with_texts(std::move(views));
  for (ComputeView& view : views) {
    view.scaling.why_data = cut(view.scaling.why_data, Gone::hidden);
    for (MachineView& machine : view.machines)
      machine.why_data = cut(machine.why_data, Gone::hidden);
    for (ComputeEvent& event : view.history) event.why_data = cut(event.why_data, Gone::hidden);
    const auto keys = setting_keys(view.spec.source);
    for (auto& [name, words] : view.spec.settings) {
      const auto known =
          std::find_if(keys.begin(), keys.end(),
                       [&name = name](const SettingKey& key) { return key.name == name; });
      if (known == keys.end() || known->kind == SettingKey::Kind::words) words = {kHiddenValue};
    }
  }
  return with_texts(std::move(views));
}

NodeView Viewer::cut(NodeView view) const {
  std::erase_if(view.attempts, [this](const AttemptId& attempt) {
    const Job* job = state_.job(attempt.job);
    return job == nullptr || !sees(*job);
  });
  view.why = cut(view.why);
  view.reason = words::text_of(view.why);
  for (NodeEvent& event : view.history) {
    event.why = cut(event.why);
    event.message = std::string(head(words::text_of(event.why), kMaxNodeEventBytes));
  }
  return view;
}

std::string Viewer::tell(WordsOf of, std::string words, bool reads) const {
  if (!is_told(of, reads)) return "";
  return may_name_jobs(of) ? cut(std::move(words)) : words;
}

Why Viewer::tell(WordsOf of, const Why& why, bool reads) const {
  if (!is_told(of, reads)) return {};
  return may_name_jobs(of) ? cut(why) : why;
}

void Viewer::tell(WordsOf of, Why& why, std::string& words, bool reads) const {
  why = tell(of, why, reads);
  words = words::text_of(why);
}

JobView Viewer::cut(JobView view) const {
  const bool reads = may_of(Permission::read_job, view);
  Why for_all = std::exchange(view.why_for_all, {});
  view.why = cut(reads ? view.why : for_all);
  view.spec.compute_why = cut(view.spec.compute_why);
  view.reason = words::text_of(view.why);
  for (StepView& step : view.steps) {
    step.why = reads ? cut(step.why) : Why();
    step.reason = words::text_of(step.why);
  }
  for (OutputWrite& write : view.writes) write.why = words::text_of(write.why_data);
  for (AttemptView& attempt : view.attempts) {
    for (PartView& part : attempt.parts) {
      put_texts(part);
      each_reason(part, [&](WordsOf of, Why& why) { why = tell(of, why, reads); });
    }
  }
  each_text(view, [&](WordsOf of, std::string& text) {
    if (!text.empty()) text = tell(of, std::move(text), reads);
  });
  each_why(view, [&](WordsOf of, Why& why, std::string& text) { tell(of, why, text, reads); });
  std::erase_if(view.spec.queue.after, [this](const After& after) {
    const Job* job = state_.job(after.job);
    return job != nullptr && !sees(*job);
  });
  if (!reads) return outline_of(std::move(view));
  if (may_of(Permission::read_values, view)) return view;
  hide_values(view.spec);
  for (AttemptView& attempt : view.attempts)
    for (PartView& part : attempt.parts)
      for (NetworkSetting& setting : part.settings) hide_value(setting);
  return view;
}

ExplainView Viewer::cut(ExplainView view) const {
  const bool reads = may_of(Permission::read_job, view.job);
  for (ExplainLine& line : view.reasons) {
    Why for_all = std::exchange(line.for_all, {});
    line.why = cut(reads ? line.why : for_all);
  }
  std::erase_if(view.reasons, [](const ExplainLine& line) { return !line.why; });
  view.lines.clear();
  for (const ExplainLine& line : view.reasons) view.lines.push_back(words::text_of(line));
  if (!reads) view.rerun.reset();
  if (!reads) view.settings.reset();
  if (view.settings && !may_of(Permission::read_values, view.job)) {
    for (NetworkSetting& setting : view.settings->settings) hide_value(setting);
    for (SettingsView::Elsewhere& other : view.settings->elsewhere) hide_value(other.setting);
  }
  if (view.settings) view.settings->absent = words::text_of(view.settings->why_absent);
  view.job = cut(std::move(view.job));
  return view;
}

JobEvent Viewer::cut(JobEvent event, const Job& of) const {
  tell(WordsOf::job, event.why, event.message, reads(of));
  return event;
}

}  // namespace lockstep::launcher
