#include "launcher/cli/text/targets/compute_machines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "launcher/cli/terminal/output.h"

namespace lockstep::cli {
namespace {

struct Meaning {
  std::string_view word, meaning;
};

constexpr std::array kSteps = std::to_array<Meaning>({
    {kFirstMachineStep, "waits for its turn"},
    {"connect", "connects"},
    {"copy", "copies the bundle"},
    {"start", "starts the agent"},
    {"verify", "checks that the agent runs"},
    {"tunnel", "opens the tunnel"},
    {"remove", "removes the agent"},
});

constexpr std::array kStates = std::to_array<Meaning>({
    {"wanted", "waits for its turn"},
    {"creating", "waits for its turn"},
    {"created", "waits for its agent to join"},
    {"pending", "waits until its provider can make it"},
    {"unknown", "waits until its node is ALIVE: the launcher does not hear its agent"},
    {"lost", "its node is lost, and the launcher starts its agent again"},
    {"leaving", "waits until nothing holds it: a job on its node, or a call of its provider"},
    {"removing", "removes the agent"},
});

// Providers of other kinds print the errors of the tools that they call.
constexpr std::string_view kAdviceOfOthers =
    "`lockstep compute log NAME` has what the provider printed; `lockstep compute update NAME "
    "--set "
    "KEY=VALUE` changes a setting";

constexpr std::array kAdvice = std::to_array<Meaning>({
    {"host_key",
     "Check the address. If you know why the key changed (the machine was installed anew), remove "
     "the old key as the message says"},
    {"unauthenticated",
     "Try `ssh` with the same account and key on the launcher's machine. Another account, key or "
     "password: --user, --ssh-private-key-file, --password-secret"},
    {"unreachable",
     "Check its address and port, that it runs, and that a firewall lets the launcher's machine "
     "in"},
    {"unsupported", "The agent cannot run on this machine; choose another one"},
    {"no_space", "Free space there, or choose a folder on another disk: --directory"},
    {"no_permission",
     "Let the account write to the folder, or choose another one: --directory, or --user"},
    {"launcher_unreachable",
     "The machine cannot connect to the launcher. `lockstep compute update NAME --set "
     "lockstep.tunnel=always` takes the way through ssh; or have the launcher listen where the "
     "machine can reach it (lockstepd --listen, --advertise)"},
    {"timed_out", "Check how busy the machine and the network are"},
    {"conflict",
     "If another launcher or target has its agent there, detach it there first; else choose "
     "another "
     "folder: --directory"},
    {"failed", "`lockstep compute log NAME` has what the provider printed"},
});

std::string_view meaning_in(const auto& words, std::string_view word) {
  const auto found = std::find_if(words.begin(), words.end(),
                                  [&](const Meaning& known) { return known.word == word; });
  return found == words.end() ? std::string_view() : found->meaning;
}

// Clocks of two machines differ, so a negative age is not shown.
std::string ago(Instant time, Instant now) {
  if (time.ns == 0) return "";
  return format_duration(std::max(now - time, Duration::zero())) + " ago";
}
std::string until(Instant time, Instant now) {
  if (time.ns == 0) return "";
  return time <= now ? "now" : "in " + format_duration(time - now);
}

bool leaves(const MachineView& machine) {
  return machine.state == "leaving" || machine.state == "removing" ||
         machine.failed_step == "remove";
}

std::string replaced(std::string_view text, std::string_view word, const std::string& by) {
  std::string out(text);
  if (const auto found = out.find(word); found != std::string::npos)
    out.replace(found, word.size(), by);
  return out;
}

std::string next_try(const std::string& target, const MachineView& machine) {
  const bool is_busy = machine.state == "creating" || machine.state == "removing";
  const std::string retry =
      is_busy ? "The launcher is trying again"
      : machine.retry_at.ns == 0
          ? "The launcher tries again by itself"
          : fmt::format("The launcher tries again by itself at {}", to_string(machine.retry_at));
  if (machine.state == "joined" || machine.state == "unknown")
    return fmt::format(
        "Its node {} stays as it is; `lockstep compute update {}` tries again. `lockstep compute "
        "detach {} --host {}` gives it up",
        machine.node, target, target, machine.name);
  if (leaves(machine))
    return fmt::format(
        "{}; `lockstep compute show {}` shows it. `lockstep compute detach {} --host {} --force` "
        "forgets the machine, though an agent may still run there",
        retry, target, target, machine.name);
  const std::string at_once =
      is_busy ? "" : fmt::format(", and `lockstep compute update {}` at once", target);
  return fmt::format(
      "{}{}; `lockstep compute show {}` shows it. `lockstep compute detach {} --host {}` gives it "
      "up",
      retry, at_once, target, target, machine.name);
}

}  // namespace

std::string step_words(std::string_view step) {
  const std::string_view words = meaning_in(kSteps, step);
  return printable(words.empty() ? step : words);
}

std::string activity(const MachineView& machine) {
  if (!machine.step.empty()) return step_words(machine.step);
  if (machine.state == "joined") return "joined as node " + machine.node;
  const std::string_view words = meaning_in(kStates, machine.state);
  return std::string(words.empty() ? machine.state : words);
}

bool is_leaving(const MachineView& machine) {
  return machine.state == "leaving" || machine.state == "removing";
}

bool has_failed(const MachineView& machine) {
  return !machine.failed_code.empty() || !machine.failure.empty();
}

std::string machine_table(const std::vector<MachineView>& machines, Instant now) {
  Table table({"MACHINE", "STATE", "NODE", "SINCE", "STEP/ERROR", "NEXT TRY"});
  for (const MachineView& machine : machines) {
    std::string what = machine.step.empty() ? "" : step_words(machine.step);
    const auto reason = machine.about.find("reason");
    if (what.empty() && has_failed(machine))
      what = machine.failed_step + (machine.failed_step.empty() ? "" : ": ") + machine.failed_code;
    const bool is_pending = machine.state == "pending";
    if ((what.empty() || is_pending) && reason != machine.about.end())
      what = printable(reason->second);
    table.add({machine.name, machine.state, machine.node, ago(machine.since, now), what,
               until(machine.retry_at, now)});
  }
  return table.text();
}

std::string machine_failure(const ComputeSpec& spec, const MachineView& machine) {
  const std::string& target = spec.name;
  std::string text =
      fmt::format("{}: {} failed: {}", machine.name,
                  machine.failed_step.empty() ? "the provider" : machine.failed_step,
                  machine.failure.empty() ? machine.failed_code : in_lines(machine.failure, 2));
  const std::string advice = replaced(advice_for(machine.failed_code, spec.source), "NAME", target);
  if (!advice.empty()) text += "\n  " + advice + ".";
  return text + "\n  " + next_try(target, machine) + ".";
}

std::string_view advice_for(std::string_view code, NodeSource source) {
  const std::string_view advice = meaning_in(kAdvice, code);
  return advice.empty() || source == NodeSource::ssh ? advice : kAdviceOfOthers;
}

std::string history_lines(const std::vector<ComputeEvent>& history) {
  std::string text;
  for (const ComputeEvent& event : history)
    text += fmt::format("{} {}{}{}\n", to_string(event.at), event.machine,
                        event.machine.empty() ? "" : " ", in_one_line(event.text));
  return text;
}

}  // namespace lockstep::cli
