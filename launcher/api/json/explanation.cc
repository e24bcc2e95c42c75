#include "launcher/api/json/environment.h"
#include "launcher/api/json/found.h"
#include "launcher/api/json/job.h"

namespace lockstep::api {

void keys(const SettingsView::Elsewhere& other, See& see) {
  keys(other.setting, see);
  see("ranks", other.ranks, "The ranks that have this value, as 8-15, 24.");
}

void keys(const SettingsView& view, See& see) {
  see("rank", view.rank, "The rank that was asked for.");
  see("node_name", unless_empty(view.node_name), "Its node; null: it has none yet.");
  see("absent", unless_empty(view.absent), "Why there are no settings; null: there are.");
  see("absent_data", view.why_absent, "`absent`, for programs.");
  see("variables", view.settings, "Its variables, and its limit of locked memory as `ulimit -l`.");
  see("elsewhere", view.elsewhere, "Variables that have another value on other ranks.");
  see("more", view.more, "There are more values elsewhere than are listed.");
}

void keys(const FileChanges& files, See& see) {
  see("added", files.added, "Files that only the later run has.");
  see("removed", files.removed, "Files that only the earlier run had.");
  see("changed", files.changed, "Files whose content or mode differs.");
  see("first", unless_empty(files.first),
      "The path of the first of them; null: only modes of folders differ.");
  see("more", files.more, "The count ended at a limit: more files may differ.");
}

void keys(const PartChange& change, See& see) {
  see("part", change.part,
      "code, command, environment, distribution, resources, account, or an input, output or "
      "variable with its name in quotes.");
  see("was", change.was,
      "The tree of its files in the earlier run; null: it had none, or the files do not differ.");
  see("is", change.is, "The tree of its files now; null: it has none, or the files do not differ.");
  see("files", change.files,
      "How many files and symlinks differ; null: it has none, or they were not compared.");
}

void keys(const RerunView& rerun, See& see) {
  see("before", rerun.before, "The job of the newest earlier run of this step that completed.");
  see("changes", rerun.changes, "What differs from it.");
}

void keys(const ExplainView& explain, See& see) {
  const JobView& job = explain.job;
  std::optional<ExplainedEnvironment> environment;
  if (job.spec.environment) environment = {&*job.spec.environment, &job.attempts};
  see.page("explanation", "Explanation",
           "Why a job runs where it does, or waits: `lockstep job explain`.");
  see("name", job.spec.name, "The job.");
  see("status", job.status, "Azure ML's word for its state.");
  see("reason", job.reason, "Why it waits, or how it failed, in one line.");
  see("reason_data", job.why, "`reason`, for programs.");
  see("placement", explain.lines, "The placement, reason by reason, in words.");
  see("environment", environment,
      "The job's environment and how far its nodes are; null: it has none.");
  see("rerun", explain.rerun,
      "Why a pipeline's step ran although an earlier run had completed; null: nothing was "
      "compared, or the reader may not read the earlier run.");
  see("settings", explain.settings,
      "The network settings of a rank; null: `--env` was not given, or the reader may not read the "
      "job.");
}

void keys(const JobEvent& event, See& see) {
  see.page("event", "Event",
           "One thing that happened to a job: `lockstep job events`, which prints one a line with "
           "--follow.");
  see("time", SetTime{event.at}, "When.");
  see("what", event.what, "One word: Submitted, Placed, Running, …");
  see("attempt", unless_zero(event.attempt), "The attempt; null: it concerns none.", kFromOne);
  see("node_name", unless_empty(event.node_name), "The node; null: it concerns no one node.");
  see("message", event.message, "What happened, in words.");
  see("reason_data", event.why, "`message`, for programs.");
}

void keys(const JobsDeleted::Kept& kept, See& see) {
  see("name", kept.job, "The job.");
  see("reason", kept.message, "Why it is still there.");
}

void keys(const JobsDeleted& deleted, See& see) {
  see.page("deletion", "Deleted jobs", "What `lockstep job delete` did.");
  see("deleted", deleted.jobs, "Names of the jobs that are gone.");
  see("kept", deleted.kept, "Jobs that were named and are still there.");
}

void keys(const CheckedFile& file, See& see) {
  see.page("validation", "Validation", "What `lockstep job validate` found.");
  see("file", file.file, "The job file, as it was given.");
  see("valid", file.checked.errors.empty(), "It can be submitted.");
  see("errors", file.checked.errors,
      "What is wrong, each with FILE:LINE:COLUMN where it has a place.");
  see("notes", file.checked.notes, "What its author should know; nothing is wrong.");
}

void keys(const Done& done, See& see) {
  see.page("message", "Message", "What was done, in words: `lockstep environment prune`.");
  see("message", done.message, "What was done.");
}

}  // namespace lockstep::api
