#include "launcher/cli/text/targets/machine_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "launcher/cli/terminal/output.h"
#include "launcher/cli/text/targets/compute_machines.h"

namespace lockstep::cli {
namespace {

const MachineView* find(const std::optional<ComputeView>& compute, const std::string& name) {
  if (!compute) return nullptr;
  const auto found = std::find_if(compute->machines.begin(), compute->machines.end(),
                                  [&](const MachineView& machine) { return machine.name == name; });
  return found == compute->machines.end() ? nullptr : &*found;
}

bool is_host(const std::optional<ComputeView>& compute, const std::string& name) {
  return compute && std::any_of(compute->spec.hosts.begin(), compute->spec.hosts.end(),
                                [&](const SshHost& host) { return host.name == name; });
}

// Whether a try that began after `first` has failed, and no other try has begun.
bool is_new_failure(const MachineView& first, const MachineView& now) {
  const bool is_busy = !now.step.empty() || now.state == "creating" || now.state == "removing";
  return !is_busy && has_failed(now) && (!has_failed(first) || now.failures != first.failures);
}

}  // namespace

MachineProgress::MachineProgress(const ComputeView& begun, Goals goals, Options options)
    : spec_(begun.spec), is_elastic_(is_elastic(begun.spec)), options_(options) {
  const std::optional<ComputeView> first(begun);
  for (const auto& [name, goal] : goals) {
    Followed followed;
    followed.goal = goal;
    if (const MachineView* machine = find(first, name)) followed.first = followed.last = *machine;
    machines_.emplace(name, std::move(followed));
  }
}

std::vector<std::string> MachineProgress::update(const std::optional<ComputeView>& now) {
  std::vector<std::string> lines;
  is_deleted_ = !now.has_value();
  if (now) last_failure_ = now->scaling.failure;
  for (auto& [name, followed] : machines_) {
    const MachineView* machine = find(now, name);
    const std::string line = line_of(name, followed, machine, is_host(now, name));
    if (machine != nullptr) followed.last = *machine;
    if (line.empty() || line == followed.said) continue;
    followed.said = line;
    lines.push_back(line);
  }
  return lines;
}

std::string MachineProgress::line_of(const std::string& name, Followed& followed,
                                     const MachineView* now, bool is_wanted) const {
  switch (followed.goal) {
    case Goal::joined: return line_of_joining(name, followed, now, is_wanted);
    case Goal::gone: return line_of_leaving(name, followed, now);
  }
  return "";
}

std::string MachineProgress::line_of_joining(const std::string& name, Followed& followed,
                                             const MachineView* now, bool is_wanted) const {
  const bool has_failed = now != nullptr && is_new_failure(followed.first, *now);
  followed.is_there = now != nullptr && now->state == "joined" && now->step.empty() && !has_failed;
  if (is_elastic_) {
    if (now != nullptr && !is_leaving(*now)) return fmt::format("{}: {}", name, activity(*now));
    followed.has_failed = true;
    const std::string why = now != nullptr ? now->why : last_failure_;
    return fmt::format("{}: {}; `lockstep compute show {}` shows what the launcher does next", name,
                       why.empty() ? "was given back" : in_one_line(why), spec_.name);
  }
  if (!is_wanted) {
    followed.has_failed = true;
    return name + ": was detached by another command";
  }
  // The host is attached again when it has been removed.
  if (now == nullptr || is_leaving(*now)) return name + ": waits until it is detached";
  if (has_failed && !is_leaving(*now)) {
    followed.has_failed = true;
    return machine_failure(spec_, *now);
  }
  return fmt::format("{}: {}", name, activity(*now));
}

std::string MachineProgress::line_of_leaving(const std::string& name, Followed& followed,
                                             const MachineView* now) const {
  followed.is_there = now == nullptr;
  if (now == nullptr) {
    // A machine that failed to leave earlier is not removed by that.
    const bool had_failed = has_failed(followed.first) && is_leaving(followed.first);
    const bool may_stay = options_.is_forced && has_failed(followed.last) &&
                          (had_failed || is_new_failure(followed.first, followed.last));
    return may_stay ? name + ": is forgotten; an agent may still run there"
                    : name + ": is detached";
  }
  if (is_new_failure(followed.first, *now)) {
    followed.has_failed = !options_.is_forced;
    return machine_failure(spec_, *now);
  }
  return fmt::format("{}: {}", name, activity(*now));
}

bool MachineProgress::is_done() const {
  const bool has_failed = std::any_of(machines_.begin(), machines_.end(),
                                      [](const auto& entry) { return entry.second.has_failed; });
  if (options_.until_deleted && !is_deleted_ && !has_failed) return false;
  return std::all_of(machines_.begin(), machines_.end(), [](const auto& entry) {
    return entry.second.is_there || entry.second.has_failed;
  });
}

std::vector<std::string> MachineProgress::missing() const {
  std::vector<std::string> names;
  for (const auto& [name, followed] : machines_)
    if (!followed.is_there) names.push_back(name);
  return names;
}

std::vector<std::string> MachineProgress::open_lines() const {
  std::vector<std::string> lines;
  for (const auto& [name, followed] : machines_)
    if (!followed.is_there && !followed.has_failed)
      lines.push_back(fmt::format("{}: {}", name, activity(followed.last)));
  return lines;
}

std::string MachineProgress::summary() const {
  std::size_t wanted = 0, joined = 0, leaving = 0, gone = 0;
  for (const auto& [name, followed] : machines_) {
    const bool joins = followed.goal == Goal::joined;
    ++(joins ? wanted : leaving);
    if (followed.is_there) ++(joins ? joined : gone);
  }
  const auto part = [](std::size_t some, std::size_t all, const char* what) {
    return all == 0 ? ""
                    : fmt::format("{} of {} machine{} {}", some, all, all == 1 ? "" : "s", what);
  };
  const std::string both = wanted != 0 && leaving != 0 ? ", " : "";
  return part(joined, wanted, "joined") + both + part(gone, leaving, "detached");
}

std::map<std::string, std::string> MachineProgress::take_waiting() {
  std::map<std::string, std::string> waiting;
  for (auto& [name, followed] : machines_) {
    const bool waits = followed.goal == Goal::gone && !followed.is_there &&
                       followed.last.state == "leaving" && !followed.last.node.empty();
    if (waits && !std::exchange(followed.is_told_to_wait, true))
      waiting.emplace(name, followed.last.node);
  }
  return waiting;
}

}  // namespace lockstep::cli
