#include "launcher/api/json/environment.h"
#include "launcher/api/json/found.h"
#include "launcher/api/json/job_impl.h"
#include "launcher/api/json/usage.h"

namespace lockstep::api {

void keys(const CollectedOutput& output, See& see) {
  const bool is_named = output.kind == OutputKind::named;
  see("kind", output.kind,
      "outputs and logs: the folders of those names; named: an output of the job file; checkpoint: "
      "what ranks saved for a retry; kept: files that `lockstep.keep` names.");
  see("name", is_named ? std::optional(output.name) : std::nullopt,
      "The name of a named output; else null.");
  see("digest", output.tree,
      "The tree in the launcher's store; null: it is empty or was not collected.");
  see("files", output.files, "How many files it has.");
  see("size", output.size, "Bytes of these files.");
  see("partial", output.partial, "How many of the files were being written when they were sent.");
  see("problems", output.problems, "What could not be collected, and why.");
}

void keys(const NotKept& not_kept, See& see) {
  see("names", not_kept.names,
      "Names in the working directory, the largest first; a folder's ends in '/'.");
  see("more", not_kept.more, "How many names there are beyond these.");
  see("files", not_kept.files, "How many files there are.");
  see("size", not_kept.size, "Bytes of these files.");
  see("at_least", not_kept.at_least, "The node did not look at everything: there may be more.");
}

void keys(const RankView& rank, See& see) {
  const bool has_code = rank.state == RankState::exited || rank.state == RankState::killed ||
                        rank.state == RankState::terminated;
  see("rank", rank.rank, "Its number in the whole job.");
  see("state", rank.state,
      "Terminated: Lockstep had sent it a signal before it ended. NotStarted: it never ran. "
      "Unknown: its part has ended without a word of it.");
  see("exit_code", has_code ? std::optional(rank.end.exit_code) : std::nullopt,
      "128 plus the signal if one killed it; null while it has not ended, and where it never ran.",
      kAnyNumber);
  see("ended", has_code ? rank.end.time : Instant(),
      "When it ended, in RFC 3339; null while it has not, or unknown.");
}

void keys(const PartView& part, See& see) {
  const bool names_any = part.not_kept && !part.not_kept->names.empty();
  std::vector<RankTotals> used;
  for (const RankUse& rank : part.used) used.push_back({rank});
  see("node_name", part.node_name, "The node.");
  see("node_rank", part.node_rank, "The node's number among those of the job.");
  see("first_rank", part.first_rank, "The first rank on this node.");
  see("ranks", part.ranks, "How many ranks run on it.");
  see("state", part.state, "How far the node is.");
  see("progress", part.progress,
      "What it does, in words; empty for those who may not read the job.");
  see("reason_data", part.why,
      "Why it was given up, for programs; `progress` says it in words. Null: it was not.");
  see("limits", part.limits, "Limits that were reached, in words.");
  see("limits_data", part.limits_why, "`limits`, for programs.");
  see("notes", part.notes, "What the node cannot do for the job, a text each.");
  see("notes_data", part.notes_why, "`notes`, for programs.");
  see("cpus", part.allotment.cpus, "Numbers of the logical cpus that it holds.");
  see("memory", part.allotment.memory, "Bytes of memory that it holds.");
  see("gpus", part.allotment.gpus,
      "Numbers of the GPUs that it holds, in the order of the PCI bus.");
  see("outputs", part.outputs, "What its ranks left.");
  see("not_kept", names_any ? part.not_kept : std::nullopt,
      "Files that its ranks made outside what is kept: they are gone. null: none.");
  see("logs_not_kept", part.lost_logs,
      "Bytes of its last logs that were not kept, since the launcher had no space for them; 0: "
      "nobody knows how many, since they did not arrive in time; null: all logs were kept, or may "
      "still come.");
  see("environment", part.environment,
      "How far it is with the environment; null: the job has none, or nothing is known yet.");
  see("use", part.use, "What its ranks use now; null: they have ended, or it is unknown.");
  see("used", used,
      "What the ranks that have ended used in all; those of which nothing is known are missing.");
  see("rank_states", ranks_of(part), "Each of its ranks, in order; none in a list of jobs.");
  see("settings", part.settings,
      "Variables of the network of its first rank; empty in `job list`, and for those who may not "
      "read the job.");
}

void keys(const CheckpointView& checkpoint, See& see) {
  see("job", unless_empty(checkpoint.job.value), "Whose attempt saved it; null: the same job's.");
  see("attempt", checkpoint.attempt, "The attempt that saved it.");
  see("saved", checkpoint.saved, "When.");
  see("digest", checkpoint.tree, "Its tree; null: not staged yet.");
  see("files", checkpoint.files, "How many files it has.");
  see("size", checkpoint.size, "Bytes of these files.");
}

void keys(const NamedAttempt& named, See& see) {
  const AttemptView& attempt = *named.attempt;
  const words::About names = names_in(*named.job, attempt);
  std::optional<Of<ProbeResult>> probe;
  if (attempt.probe) probe = {&*attempt.probe, &names};
  see("number", attempt.number, "1 for the first.");
  see("placed", attempt.placed, "When nodes were chosen.");
  see("started", attempt.started, "When ranks started; null: not yet.");
  see("ended", attempt.ended, "When it ended; null: not yet.");
  see("parts", attempt.parts, "One for each node.");
  see("report", attempt.report, "How it ended; null: not yet.");
  see("retried", unless_empty(attempt.retried), "Why another attempt followed; null: none did.");
  see("reason_data", attempt.why, "`retried`, for programs.");
  see("checkpoint", attempt.checkpoint, "What it began with; null: nothing.");
  see("found", each_of(attempt.found, names),
      "What holds among its ranks now; of one that ended and did not complete, what held last.");
  see("probe", probe,
      "What the probe of its nodes found before its ranks started; null: there was none, as on one "
      "node, or the reader may not read the job.");
}

}  // namespace lockstep::api
