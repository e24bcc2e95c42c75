#include "launcher/cli/text/view_text.h"

#include "launcher/api/json/job.h"
#include "launcher/cli/terminal/labelled_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/domain/job/image_replacement.h"
#include "common/domain/why/jobs/ends.h"
#include "launcher/cli/terminal/output.h"
#include "launcher/cli/text/attempt_text.h"
#include "launcher/cli/text/environment_view.h"
#include "launcher/cli/text/found_lines.h"
#include "launcher/cli/text/in_vain_lines.h"
#include "launcher/cli/text/network_view.h"
#include "launcher/cli/text/not_kept_text.h"
#include "launcher/cli/text/phrases.h"
#include "launcher/cli/text/pipeline_view.h"
#include "launcher/cli/text/rank_view.h"
#include "launcher/cli/text/targets/usage_view.h"
#include "launcher/words/nodes/held_node.h"
#include "launcher/words/why.h"

namespace lockstep::cli {

namespace {

// How long its last attempt ran, or has run so far.
std::string running_time(const JobView& job, Instant now) {
  if (job.attempts.empty() || job.attempts.back().started.ns == 0) return "-";
  const AttemptView& last = job.attempts.back();
  const Instant end = last.ended.ns != 0 ? last.ended : is_final(job.status) ? job.ended : now;
  return format_duration(std::max(end - last.started, Duration::zero()));
}

// "1.6s"; with several attempts "1.6s in attempt 2, 7.1s in all".
std::string all_running_times(const JobView& job, Instant now) {
  const std::string last = running_time(job, now);
  if (job.attempts.size() < 2) return last;
  Duration all{0};
  for (const AttemptView& attempt : job.attempts) {
    const Instant end = attempt.ended.ns != 0  ? attempt.ended
                        : is_final(job.status) ? job.ended
                                               : now;
    if (attempt.started.ns != 0) all += std::max(end - attempt.started, Duration::zero());
  }
  return fmt::format("{} in attempt {}, {} in all", last, job.attempts.back().number,
                     format_duration(all));
}

std::string shape_of(const JobView& job) {
  const JobSpec& spec = job.spec;
  if (spec.is_pipeline()) return steps_shape(job);
  const int nodes = spec.resources.instance_count, ranks = spec.distribution.processes_per_node;
  if (spec.world_size() != nodes * ranks) return fmt::format("{}/{}", spec.world_size(), nodes);
  return fmt::format("{}x{}", nodes, ranks);
}

// "2 nodes x 2 ranks (mpi)"; if nodes differ, "3 ranks on 2 nodes (tensorflow)".
std::string ranks_and_nodes(const JobSpec& spec) {
  const auto plural = [](int count) { return count == 1 ? "" : "s"; };
  const int nodes = spec.resources.instance_count, ranks = spec.distribution.processes_per_node;
  const std::string_view kind = to_string(spec.distribution.kind);
  if (spec.world_size() != nodes * ranks)
    return fmt::format("{} ranks on {} node{} ({})", spec.world_size(), nodes, plural(nodes), kind);
  return fmt::format("{} node{} x {} rank{} ({})", nodes, plural(nodes), ranks, plural(ranks),
                     kind);
}

std::string command_text(const Command& command) {
  if (const auto* shell = std::get_if<ShellCommand>(&command)) return shell->text;
  return shell_words(std::get<Argv>(command).words);
}

// "a=1, b=x y".
std::string pairs_of(const std::map<std::string, std::string>& map) {
  std::string text;
  for (const auto& [key, value] : map) {
    if (!text.empty()) text += ", ";
    text.append(key).append("=").append(value);
  }
  return text;
}

// The job's variables that decide how its ranks find and reach each other.
std::string network_variables(const std::map<std::string, std::string>& variables) {
  constexpr std::array<std::string_view, 9> kPrefixes{
      "NCCL_", "OMPI_MCA_", "PMIX_MCA_", "PRTE_MCA_", "UCX_", "GLOO_", "FI_", "TP_", "MASTER_"};
  std::map<std::string, std::string> steering;
  for (const auto& variable : variables)
    if (std::any_of(kPrefixes.begin(), kPrefixes.end(),
                    [&](std::string_view prefix) { return variable.first.starts_with(prefix); }))
      steering.insert(variable);
  return pairs_of(steering);
}

// "cpus 2, memory 1.0 GiB, all gpus": what the job asked for on each node.
std::string asked_of(const ResourceRequest& asked) {
  if (!asked.cpus && !asked.memory && !asked.gpus) return "whole nodes";
  return fmt::format("{}, {}, {}{} on each node",
                     asked.cpus ? fmt::format("cpus {}", *asked.cpus) : "all cpus",
                     asked.memory ? "memory " + to_string(*asked.memory) : "all memory",
                     asked.gpus ? fmt::format("gpus {}", *asked.gpus) : "all gpus",
                     asked.isolate_gpus ? " (one for each rank)" : "");
}

// "/dev/shm 8.0 GiB; --ulimit memlock=-1": the job's settings for its container, beside the image.
std::string container_of(const JobSpec& spec) {
  if (!spec.in_container()) return "";
  const ResourceRequest& asked = spec.resources;
  std::string text = asked.shm_size ? "/dev/shm " + to_string(*asked.shm_size) : "";
  if (!asked.docker_args.empty())
    text += fmt::format("{}{}", text.empty() ? "" : "; ", shell_words(asked.docker_args));
  return in_one_line(text);
}

// "4,096 processes a rank; 1.0 GiB of logs": the limits in the job's file.
std::string limits_of(const LimitRequest& asked) {
  std::vector<std::string> all;
  if (asked.pids) all.push_back(with_commas(*asked.pids) + " processes a rank");
  if (asked.log) all.push_back(to_string(*asked.log) + " of logs");
  if (asked.disk) all.push_back(to_string(*asked.disk) + " of disk");
  if (asked.required) all.emplace_back("only where they can be enforced");
  return fmt::format("{}", fmt::join(all, "; "));
}

// "data: ./data (uri_folder, ro_mount)".
std::string names_of(const std::vector<DataInput>& inputs) {
  std::string text;
  for (const DataInput& input : inputs)
    text += fmt::format("{}{}: {} ({}, {})", text.empty() ? "" : ", ", input.name, input.source,
                        to_string(input.type), to_string(input.mode));
  return text;
}

// "net:3"; "": the output was not registered.
std::string registered_as(const JobView& job, const std::string& output) {
  for (const MergedOutput& merged : job.merged)
    if (merged.name == output) return merged.registered;
  return "";
}

// "model (custom_model), registered as net:3".
std::string names_of_outputs(const JobView& job) {
  std::string text;
  for (const OutputSpec& output : job.spec.outputs) {
    text += fmt::format("{}{} ({}){}", text.empty() ? "" : ", ", output.name, type_word(output),
                        output.path.empty() ? "" : " to " + output.path);
    if (const std::string name = registered_as(job, output.name); !name.empty())
      text += ", registered as " + name;
  }
  return text;
}

// The state of an output whose path is in a remote datastore.
std::string write_text(const OutputWrite& write, Instant now) {
  const std::string what = fmt::format("output '{}' ", write.output);
  const std::string tries =
      fmt::format("{} {} failed", write.tries, write.tries == 1 ? "try" : "tries");
  switch (write.state) {
    case OutputWrite::State::written:
      return fmt::format("{}to {} at {}", what, write.to, to_string(write.at));
    case OutputWrite::State::given_up:
      return fmt::format(
          "{}not to {}: given up at {}: {}; the last one: {}; `lockstep job "
          "download` has it",
          what, write.to, to_string(write.at), tries, in_one_line(write.why));
    case OutputWrite::State::waiting: break;
  }
  if (write.tries == 0) return fmt::format("{}is being written to {}", what, write.to);
  return fmt::format("{}not yet to {}: {}, the last one: {}; {}", what, write.to, tries,
                     in_one_line(write.why),
                     write.at > now ? "tried again in " + format_duration(write.at - now)
                                    : "it is being tried again");
}

// "prep (completed), clean (ended)".
std::string jobs_before(const QueueSettings& queue) {
  std::string text;
  for (const After& after : queue.after)
    text +=
        fmt::format("{}{} ({})", text.empty() ? "" : ", ", after.job.value, to_string(after.when));
  return text;
}

// What is wrong with a job that does not wait.
std::string trouble_of(const JobView& job) {
  std::string alarm = alarm_text(job);
  return alarm.empty() ? silence_text(job.silent) : alarm;
}

std::string children_text(const JobView& job) {
  if (job.children == 0) return "";
  const std::string open =
      job.open_children > 0 ? fmt::format(" ({} not ended)", job.open_children) : "";
  return fmt::format("{}{}; lockstep job list --parent {}", job.children, open, job.spec.name);
}

std::string help_while_queued(const JobView& job) {
  return job.status == JobStatus::queued ? words::help_where_held(job.why) : "";
}

void add_state_and_reason(Lines& lines, const JobView& job) {
  const JobSpec& spec = job.spec;
  lines.add("name", spec.name);
  if (!spec.step.empty())
    lines.add("step", fmt::format("{} of pipeline {}", spec.step, spec.parent.value));
  if (spec.is_child()) lines.add("child of", spec.parent.value);
  lines.add("status", to_string(job.status));
  lines.add("reason", in_one_line(job.reason));
  lines.add("what to do", help_while_queued(job));
  for (const FoundText& found : found_texts(job)) lines.add(found.label, found.text);
  lines.add("note", silence_text(job.silent));
  if (job.queue_position > 0) lines.add("queue", fmt::format("position {}", job.queue_position));
}

void add_descriptions(Lines& lines, const JobView& job) {
  const JobSpec& spec = job.spec;
  lines.add("display name", spec.display_name);
  lines.add("experiment", spec.experiment_name);
  lines.add("description", spec.description);
  lines.add("tags", pairs_of(spec.tags));
  lines.add("inputs", pairs_of(spec.inputs));
  lines.add("data", names_of(spec.data));
  lines.add("outputs", names_of_outputs(job));
  lines.add("keeps", shell_words(spec.keep));
}

// The command, its environment, and what it holds.
void add_command(Lines& lines, const JobSpec& spec) {
  lines.add("command", command_text(spec.command));
  lines.add("shape", ranks_and_nodes(spec));
  if (spec.environment) {
    lines.add("environment", summary(*spec.environment));
    lines.add("made of", contents(*spec.environment));
  }
  for (const auto& line : image_replacement_lines(spec)) lines.add("note", line);
  lines.add("container", container_of(spec));
  lines.add("network", network_variables(spec.environment_variables));
  lines.add("holds", asked_of(spec.resources));
}

// When it may start, and what it may use.
void add_bounds(Lines& lines, const JobSpec& spec) {
  if (spec.queue.priority != Priority::medium)
    lines.add("priority", to_string(spec.queue.priority));
  lines.add("after", jobs_before(spec.queue));
  if (spec.queue.not_before.ns != 0) lines.add("not before", to_string(spec.queue.not_before));
  if (spec.timeout) lines.add("timeout", format_duration(*spec.timeout));
  lines.add("limits", limits_of(spec.limits));
}

void add_times_of_job(Lines& lines, const JobView& job, Instant now) {
  const JobSpec& spec = job.spec;
  lines.add("submitted", fmt::format("{} ({}) by {}", to_string(job.submitted),
                                     ago(job.submitted, now), spec.submitter));
  if (job.shared)
    lines.add("shared", "with project " +
                            (spec.project.empty() ? std::string(kDefaultProject) : spec.project));
  if (job.ended.ns != 0) lines.add("ended", to_string(job.ended));
  lines.add("ran", all_running_times(job, now));
  lines.add("children", children_text(job));
  lines.add("archived", archived_text(job));
}

// What is left of the job: its exit code, its outputs, and files that were not kept.
void add_remains(Lines& lines, const JobView& job, Instant now) {
  if (job.report) lines.add("exit code", std::to_string(job.report->exit_code));
  for (const auto& warning : api::unwritten_outputs(job)) lines.add("warning", warning);
  for (const OutputWrite& write : job.writes) lines.add("written", write_text(write, now));
  lines.add("not kept", not_kept_text(job));
  lines.add("warning", lost_logs_text(job));
}

}  // namespace

std::string job_table(const std::vector<JobView>& jobs, Instant now,
                      std::optional<std::size_t> columns, const std::vector<JobColumn>& more) {
  if (jobs.empty()) return "no jobs yet; try: lockstep run -- hostname\n";
  constexpr int kBehind = 2;  // where other columns come: behind the name and the status
  std::vector<std::string> header{"NAME",        "STATUS",    "USER", "EXPERIMENT", "DISPLAY NAME",
                                  "NODESxRANKS", "SUBMITTED", "RAN",  "RESTARTS",   "REASON"};
  for (std::size_t i = 0; i < more.size(); ++i)
    header.insert(header.begin() + kBehind + static_cast<std::ptrdiff_t>(i), more[i].header);
  Table table(std::move(header));
  for (const auto& job : jobs) {
    std::vector<std::string> row{
        job.spec.name,
        fmt::format("{}{}", to_string(job.status), job.archived ? " (archived)" : ""),
        job.spec.submitter,
        job.spec.experiment_name,
        job.spec.display_name,
        shape_of(job),
        ago(job.submitted, now),
        running_time(job, now),
        std::to_string(job.attempts.empty() ? 0 : job.attempts.size() - 1),
        job.reason.empty()
            ? trouble_of(job)
            : job.reason.substr(0, job.reason.find('\n'))};  // `job show` has the rest
    for (std::size_t i = 0; i < more.size(); ++i) {
      const auto cell = more[i].cells.find(job.spec.name);
      row.insert(row.begin() + kBehind + static_cast<std::ptrdiff_t>(i),
                 cell == more[i].cells.end() ? "" : cell->second);
    }
    table.add(std::move(row));
  }
  if (!columns) return table.text();
  const std::string text =
      table.text(*columns, {"REASON", "DISPLAY NAME", "EXPERIMENT"},
                 {"RESTARTS", "NODESxRANKS", "RAN", "EXPERIMENT", "USER", "DISPLAY NAME"});
  return text + in_vain_lines(jobs, text);
}

std::string job_text(const JobView& job, Instant now) {
  Lines lines;
  add_state_and_reason(lines, job);
  add_descriptions(lines, job);
  add_command(lines, job.spec);
  add_bounds(lines, job.spec);
  add_times_of_job(lines, job, now);
  add_remains(lines, job, now);
  std::string text = lines.text();
  const AttemptView* before = nullptr;
  for (const auto& attempt : job.attempts) {
    text += attempt_text(job.spec.name, attempt, before);
    before = &attempt;
  }
  return printable(text);
}

std::string explain_text(const ExplainView& explain) {
  std::string text = fmt::format("{}: {}", explain.job.spec.name, to_string(explain.job.status));
  if (!explain.job.reason.empty()) text += " (" + in_one_line(explain.job.reason) + ")";
  text += "\n";
  for (const auto& line : explain.lines) text += "  " + in_lines(line, 4) + "\n";
  if (const std::string help = help_while_queued(explain.job); !help.empty())
    text += fmt::format("  what to do: {}\n", in_lines(help, 4));
  if (!explain.job.attempts.empty())
    for (const auto& part : explain.job.attempts.back().parts) {
      for (const auto& line : part.notes)
        text += fmt::format("  note of {}: {}\n", part.node_name, in_one_line(line));
      for (const auto& line : part.limits)
        text += fmt::format("  limit on {}: {}\n", part.node_name, in_one_line(line));
    }
  return printable(text) + environment_paragraph(explain.job);
}

}  // namespace lockstep::cli
