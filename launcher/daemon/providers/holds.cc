#include "launcher/daemon/providers/holds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/domain/why/why.h"
#include "launcher/words/why.h"

namespace lockstep::launcher {
namespace {

constexpr std::size_t kMaxHoldLines = 10'000;  // lines per minute

}  // namespace

PreparedRun ProviderHolds::prepare(const std::string& target, const Hold& hold) const {
  std::map<std::string, std::string> machines;
  for (const std::string& machine : hold.machines) machines[machine];
  return prepare_run(parts_.setup, target, "hold", machines);
}

void ProviderHolds::perform(const HoldMachines& action) {
  if (action.machines.empty() && holds_.count(action.target) == 0) return;
  Hold& hold = holds_[action.target];
  const bool is_new = hold.machines != action.machines;
  hold.machines = action.machines;
  const Instant now = parts_.now();
  if (is_new) {
    hold.not_before = now;
    hold.pause = Duration(0);
  }
  if (hold.process &&
      (hold.machines.empty() || sha256(prepare(action.target, hold).request) != hold.request))
    hold.process->stop(now, MachineFault::failed, {});
  tick();
}

void ProviderHolds::tick() {
  const Instant now = parts_.now();
  for (auto it = holds_.begin(); it != holds_.end();) {
    auto& [target, hold] = *it;
    if (hold.process) {
      look(target, hold, now);
      hold.process->tick(now);
    } else if (hold.machines.empty()) {
      it = holds_.erase(it);
      continue;
    } else if (now >= hold.not_before) {
      start(target, hold);
    }
    ++it;
  }
}

// Hosts and passwords change without an action of the core, so they are checked here. A machine
// whose secret was removed continues to be held as before.
void ProviderHolds::look(const std::string& target, Hold& hold, Instant now) {
  if (now < hold.next_look || hold.process->is_stopping()) return;
  hold.next_look = now + pauses_.look;
  const PreparedRun prepared = prepare(target, hold);
  if (prepared.refused.empty() && sha256(prepared.request) != hold.request)
    hold.process->stop(now, MachineFault::failed, {});
}

Instant ProviderHolds::due() const {
  Instant due = Instant::never();
  for (const auto& [target, hold] : holds_)
    due = std::min(due, hold.process ? hold.process->due() : hold.not_before);
  return due;
}

void ProviderHolds::start(const std::string& target, Hold& hold) {
  const Instant now = parts_.now();
  hold.started = now;
  hold.next_look = now + pauses_.look;
  hold.pause = std::clamp(hold.pause * 2, pauses_.first, pauses_.longest);
  hold.not_before = now + hold.pause;  // cleared if the process starts
  PreparedRun prepared = prepare(target, hold);
  hold.redactor = std::move(prepared.redactor);
  for (const ProviderEvent& refused : prepared.refused)
    log(target, refused.machine, to_log(refused));
  if (prepared.request.empty()) return;
  log(target, "", fmt::format("begins for {}", fmt::join(hold.machines, ", ")));
  hold.request = sha256(prepared.request);
  std::vector<std::string> words = prepared.words;
  words.push_back("hold");
  ProviderProcess::Handlers handlers;
  handlers.on_line = [this, target](std::string_view line) { on_line(target, line); };
  handlers.on_error_line = [this, target](std::string_view line) {
    log(target, "", std::string(line));
  };
  handlers.on_end = [this, target](MachineFault, const Why& why) { on_end(target, why); };
  ProviderProcess::Limits limits;
  limits.grace = pauses_.grace;
  limits.lines = kMaxHoldLines;
  limits.lines_a_minute = true;
  auto process = ProviderProcess::start(parts_.loop, words, {{}, prepared.request + "\n"}, limits,
                                        now, std::move(handlers));
  if (process)
    hold.process = *std::move(process);
  else
    log(target, "", process.error().message);
}

void ProviderHolds::on_line(const std::string& target, std::string_view line) {
  if (line.empty()) return;
  auto event = read_event(line);
  if (!event) return log(target, "", fmt::format("this {}: {}", event.error().message, line));
  const Hold& hold = holds_.at(target);
  event->why = hold.redactor.clean(event->why);
  log(target, event->machine, to_log(*event));
  const auto& machines = hold.machines;
  const bool is_held =
      std::find(machines.begin(), machines.end(), event->machine) != machines.end();
  if (is_held && event->kind == ProviderEvent::Kind::notice)
    parts_.feed(ProviderNoticeInput{target, *std::move(event)});
}

void ProviderHolds::on_end(const std::string& target, const Why& why) {
  Hold& hold = holds_.at(target);
  const Instant now = parts_.now();
  const bool was_asked = hold.process->is_stopping();
  hold.process.reset();
  if (now - hold.started >= pauses_.long_up) hold.pause = Duration(0);
  if (was_asked) {  // the process starts again at once
    hold.pause = Duration(0);
    hold.not_before = now;
    return log(target, "", "ended");
  }
  hold.not_before = now + std::max(hold.pause, pauses_.first);
  log(target, "",
      fmt::format("ended by itself after {}, and starts again in {}: {}",
                  format_duration(now - hold.started), format_duration(hold.not_before - now),
                  words::text_of(why)));
}

void ProviderHolds::log(const std::string& target, const std::string& machine,
                        const std::string& text) {
  parts_.log.add(target, parts_.now(), "hold", machine, holds_.at(target).redactor.clean(text));
}

std::vector<int> ProviderHolds::pids() const {
  std::vector<int> pids;
  for (const auto& [target, hold] : holds_)
    if (hold.process) pids.push_back(hold.process->pid());
  return pids;
}

}  // namespace lockstep::launcher
