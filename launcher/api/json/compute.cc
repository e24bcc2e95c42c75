#include "launcher/api/json/compute.h"

#include <algorithm>

namespace lockstep::api {

void keys(const SshHost& host, See& see) {
  const bool has_secret = !host.password_secret.empty();
  see("name", host.name, "Unique in the target; the machine's and the node's name.");
  see("address", host.address, "A host name, an IP address, or a Host of ssh's configuration.");
  see("user", host.user, "The account; empty: what ssh's configuration says.");
  see("port", unless_zero(host.port), "null: what ssh's configuration says.", kFromOne);
  see("key", host.key,
      "Path of a private key on the launcher's machine; empty: what ssh's configuration says.");
  see("password_secret", host.password_secret,
      "Name of the secret that is the password; empty: none.");
  see("secret_owner", has_secret ? host.secret_owner : "", "Whose secret it is.");
  see("jump", host.jump, "The host through which ssh connects; empty: directly.");
  see("directory", host.directory,
      "Where everything is installed; empty: below ~/.lockstep, of root below /var/lib/lockstep.");
}

void keys(const MachineView& machine, See& see) {
  const bool has_failed = !machine.failed_code.empty() || !machine.failure.empty();
  see("name", machine.name, "The host's name.");
  see("state", machine.state,
      "wanted, pending, creating, failed, created, joined, unknown, lost, leaving or removing. "
      "joined: its node is ALIVE; unknown: it is UNKNOWN.");
  see("why", machine.why, "Why it is wanted, or why it leaves.");
  see("reason_data", machine.why_data, "`why`, for programs.");
  see("since", machine.since, "In this state since then.");
  see("step", machine.step, "The provider's step that runs now; empty: none does.");
  see("node", machine.node, "Its node; empty: it has not joined.");
  see("about", machine.about, "What the provider found out, by name.");
  see("about_reason_data", machine.waits_data,
      "`about.reason`, for programs: why it is not there yet, or takes no work.");
  see.object_or_null(
      has_failed, "failure",
      [&](See& see) {
        see("step", machine.failed_step, "The provider's step that failed.");
        see("code", machine.failed_code,
            "Why, for programs: unreachable, host_key, unauthenticated, unsupported, no_space, "
            "no_permission, launcher_unreachable, timed_out, conflict or failed.");
        see("message", machine.failure, "Why, in words.");
        see("reason_data", machine.failure_data, "`message`, for programs.");
        see("count", machine.failures, "Failed tries in a row.");
        see("retry_at", machine.retry_at,
            "When the launcher tries again by itself; null: it does not.");
      },
      "Of the last try; null: none has failed since the last success.");
}

void keys(const ComputeEvent& event, See& see) {
  see("time", SetTime{event.at}, "When.");
  see("machine", event.machine, "Empty: the target.");
  see("text", event.text, "What happened.");
  see("reason_data", event.why_data, "`text`, for programs.");
}

namespace {

constexpr std::string_view kTriggers[] = {"cron", "recurrence"};
constexpr std::string_view kEnabled[] = {"enabled", "disabled"};
constexpr std::string_view kStates[] = {"Creating", "Failed", "Deleting", "Succeeded"};

std::vector<std::string_view> week_day_names(const std::vector<int>& days) {
  std::vector<std::string_view> names;
  for (const int day : days) names.push_back(week_day_name(day));
  return names;
}

std::optional<std::string> text_of(const std::optional<LocalTime>& time) {
  return time ? std::optional(to_string(*time)) : std::nullopt;
}

void recurrence_keys(const Recurrence& recurrence, See& see) {
  see("hours", unless_empty(recurrence.hours), "Hours of the day.");
  see("minutes", unless_empty(recurrence.minutes), "Minutes of the hours.");
  see("week_days", unless_empty(week_day_names(recurrence.week_days)),
      "Days of the week, such as monday.");
  see("month_days", unless_empty(recurrence.month_days), "Days of the month.");
}

}  // namespace

void keys(const Trigger& trigger, See& see) {
  const auto* cron = std::get_if<CronTrigger>(&trigger.when);
  const auto* recurrence = std::get_if<Recurrence>(&trigger.when);
  const auto of_cron = [&](auto value) { return cron ? std::optional(value) : std::nullopt; };
  const auto of_recurrence = [&](auto value) {
    return recurrence ? std::optional(value) : std::nullopt;
  };
  see("type", cron != nullptr ? kTriggers[0] : kTriggers[1], "cron or recurrence.",
      {.words = kTriggers});
  see("expression", of_cron(or_none(cron).expression), "Of cron: five fields.");
  see("frequency", of_recurrence(or_none(recurrence).frequency), "Of a recurrence.");
  see("interval", of_recurrence(or_none(recurrence).interval),
      "Of a recurrence: it fires every so many of its frequency.");
  see.object_or_null(
      recurrence != nullptr, "schedule",
      [&](See& see) { recurrence_keys(or_none(recurrence), see); },
      "Of a recurrence: null where the start's own value counts.");
  see("start_time", text_of(trigger.start_time), "It fires no earlier. A local time.");
  see("end_time", text_of(trigger.end_time), "It fires no later. A local time.");
  see("time_zone", trigger.time_zone.empty() ? kUtc : std::string_view(trigger.time_zone),
      "A name of IANA or of Windows.");
}

void keys(const InstanceSchedule& schedule, See& see) {
  see("action", schedule.action, "What it does.");
  see("state", schedule.enabled ? kEnabled[0] : kEnabled[1], "Whether it does so.",
      {.words = kEnabled});
  see("trigger", schedule.trigger, "When it fires, in the local time of its zone.");
}

void keys(const ScalingView& scaling, See& see) {
  see("wanted", scaling.wanted, "Machines that there should be.");
  see("preparing", scaling.preparing, "Those of them that have no node yet.");
  see("leaving", scaling.leaving, "Machines that are being removed.");
  see("changed_at", scaling.changed, "When a machine was wanted or dismissed last; null: never.");
  see("why", scaling.why, "The reason of that.");
  see("reason_data", scaling.why_data, "`why`, for programs.");
  see("failure", scaling.failure, "Why no machine could be made the last time; empty: it could.");
  see("failure_reason_data", scaling.failure_data, "`failure`, for programs.");
  see("retry_at", scaling.retry_at, "When the next machine may be made; null: now.");
}

void keys(const ComputeView::Nodes& nodes, See& see) {
  see("total", nodes.total, "All.");
  see("idle", nodes.idle, "Those that could take work and have none.");
  see("busy", nodes.busy, "Those that have work.");
  see("unavailable", nodes.unavailable, "Those that have no work and cannot take any.");
}

namespace {

// With az's names where az has them.
void scale_keys(const ComputeView& compute, See& see) {
  const ComputeSpec& spec = compute.spec;
  const bool has_scale = is_elastic(spec), is_cluster = has_scale && !is_instance(spec);
  const auto of_cluster = [&](auto value) {
    return is_cluster ? std::optional(value) : std::nullopt;
  };
  const auto idle = std::chrono::duration_cast<std::chrono::seconds>(spec.scale.idle_time).count();
  see("size", has_scale ? std::optional(spec.size) : std::nullopt,
      "The name of its machines' size; empty: none. Null: it is no cluster and no compute "
      "instance.");
  see("tier", of_cluster(spec.scale.tier),
      "low_priority: its machines may be taken away at any time. Null: it is no cluster.");
  see("min_instances", of_cluster(spec.scale.min_instances),
      "Machines that are always there. Null: it is no cluster.");
  see("max_instances", of_cluster(spec.scale.max_instances),
      "Machines that there may be. Null: it is no cluster.");
  see("idle_time_before_scale_down", of_cluster(idle),
      "Seconds without work after which a machine is removed. Null: it is no cluster.");
  see("scaling", has_scale ? std::optional(compute.scaling) : std::nullopt,
      "How its number of machines comes about. Null: it is no cluster.");
}

void instance_keys(const ComputeView& compute, See& see) {
  const bool is_one = is_instance(compute.spec);
  const InstanceView& instance = compute.instance;
  const InstanceSettings& settings = compute.spec.instance;
  const auto idle = std::chrono::duration<double, std::ratio<60>>(settings.idle_time).count();
  see("state", is_one ? std::optional(instance.state) : std::nullopt,
      "Of a compute instance: Starting, Running, Stopping, Stopped or Deleting. Null: it is none.");
  see("idle_time_before_shutdown_minutes", is_one ? unless_zero(idle) : std::nullopt,
      "After so many minutes without work a compute instance stops. Null: never, or it is none.");
  see.object_or_null(
      is_one, "schedules",
      [&](See& see) { see("compute_start_stop", settings.schedules, "In the order of its file."); },
      "When a compute instance starts and stops by itself. Null: it is none.");
  see.object_or_null(
      is_one, "last_operation",
      [&](See& see) {
        see("time", instance.changed, "When it was started or stopped. RFC 3339, UTC.");
        see("cause", instance.cause, "A user, a schedule, or that it had no work.");
        see("why", instance.why, "In words.");
        see("reason_data", instance.why_data, "`why`, for programs.");
      },
      "What a compute instance did last. Null: it is none.");
  see.object_or_null(
      is_one && instance.next_at.ns != 0, "next_operation",
      [&](See& see) {
        see("action", instance.next_action, "start or stop.");
        see("time", SetTime{instance.next_at}, "RFC 3339, UTC.");
        see("local_time", instance.next_local,
            "The same in the time zone of the schedule, with its name.");
      },
      "What its schedules do next. Null: nothing.");
}

// In az's words. A target some of whose machines have nodes can be used.
std::string_view provisioning_state(const ComputeView& compute) {
  const auto all_are = [&](auto is) {
    return !compute.machines.empty() &&
           std::all_of(compute.machines.begin(), compute.machines.end(), is);
  };
  if (!compute.leaving.empty()) return "Deleting";
  if (is_elastic(compute.spec)) return "Succeeded";  // the cluster is there, also without machines
  if (all_are([](const MachineView& machine) { return machine.state == "failed"; }))
    return "Failed";
  if (all_are([](const MachineView& machine) { return machine.node.empty(); })) return "Creating";
  return "Succeeded";
}

}  // namespace

void keys(const ComputeView& compute, See& see) {
  const ComputeSpec& spec = compute.spec;
  see.page("compute", "Compute target", "A compute target as `lockstep compute show` prints it.");
  see("name", spec.name, "Its name: what `compute:` in a job file says.");
  see("type", spec.type,
      "local: another name of target local; virtualmachine: it has nodes of its own; amlcompute: a "
      "cluster whose machines are made when jobs need them; computeinstance: one machine that is "
      "on until it is stopped.");
  see("location", spec.location, "A text for people.");
  see("description", spec.description, "A text for people.");
  see("tags", spec.tags, "What somebody noted of it, by name.");
  see("provisioning_state", provisioning_state(compute),
      "In az ml's words. Creating: no machine has joined yet; Failed: the last try failed for each "
      "machine; Deleting: it goes when its last machine is gone; Succeeded: all else.",
      {.words = kStates});
  see("pool", compute.pool, "Whose nodes it has: its own name, or local.");
  see("created_at", compute.created, "When it was created; null: it came with the launcher.");
  see("created_by", compute.created_by, "By whom; empty: it came with the launcher.");
  see("nodes", compute.nodes, "How many nodes it has.");
  see.object(
      "jobs",
      [&](See& see) {
        see("queued", compute.queued_jobs, "Those that wait to be placed.");
        see("running", compute.running_jobs, "Those that are placed and have not ended.");
      },
      "Jobs that name it.");
  scale_keys(compute, see);
  instance_keys(compute, see);
  see("machines", compute.machines, "Those that the launcher attaches, by name.");
  see("leaving", compute.leaving, "Why the target is being deleted; empty: it is not.");
  see("leaving_reason_data", compute.leaving_data, "`leaving`, for programs.");
  see("history", compute.history, "What happened, oldest first; empty without --history.");
  see.object(
      "lockstep",
      [&](See& see) {
        see("node_source", spec.source,
            "Where its nodes come from; empty: a target of type local has none of its own.");
        see("tunnel", spec.tunnel, "auto, always or never; empty: auto, or it has no hosts.");
        see("settings", spec.settings,
            "What its provider was told, by name; each value is a list of texts.");
        see("labels", spec.labels,
            "Labels of each of its nodes, unless that has another value of its own.");
        see("hosts", spec.hosts, "The hosts that are attached over ssh.");
      },
      "Keys of a compute file that az ml does not have.");
}

}  // namespace lockstep::api
