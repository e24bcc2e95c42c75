#include "launcher/daemon/providers/calls.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/domain/why/nodes/providers.h"
#include "common/io/programs/run_program.h"
#include "launcher/words/why.h"

namespace lockstep::launcher {
namespace {

const char* word_of(ProviderVerb verb) {
  switch (verb) {
    case ProviderVerb::create: return "create";
    case ProviderVerb::remove: return "remove";
    case ProviderVerb::list: return "list";
  }
  return "?";
}

// Whether the event ends the call for its machine.
bool is_result(ProviderEvent::Kind kind) {
  switch (kind) {
    case ProviderEvent::Kind::running:
    case ProviderEvent::Kind::pending:
    case ProviderEvent::Kind::absent:
    case ProviderEvent::Kind::error: return true;
    case ProviderEvent::Kind::step:
    case ProviderEvent::Kind::warning:
    case ProviderEvent::Kind::notice: return false;
  }
  return false;
}

}  // namespace

ProviderCalls::ProviderCalls(Parts parts)
    : parts_(std::move(parts)),
      log_(parts_.setup.home),
      folders_(parts_.setup.home,
               [this](const std::string& target) { return parts_.setup.spec(target) != nullptr; }),
      holds_({parts_.loop, parts_.setup, log_, parts_.now, parts_.feed}, parts_.limits.hold),
      checks_({parts_.loop, parts_.setup, folders_, parts_.now, parts_.feed}, parts_.limits.check) {
  folders_.clean();
}

// ---- from the core ------------------------------------------------------------------------------

void ProviderCalls::perform(const CallProvider& action) {
  const auto [it, is_new] = calls_.try_emplace(action.call, Call{action, {}});
  if (!is_new) return;
  Call& call = it->second;
  for (const std::string& machine : action.machines) call.tokens[machine];
  if (action.verb != ProviderVerb::create) return enqueue(action.call, call);
  // The target is checked first, so that no token is made in vain.
  const ComputeSpec* spec = parts_.setup.spec(action.target);
  const bool lacks_bundle =
      spec != nullptr && installs_bundle(spec->source) && !parts_.setup.bundle();
  if (lacks_bundle) return enqueue(action.call, call);
  ProviderTokensInput made{action.call, {}, parts_.now() + parts_.limits.token_life};
  std::erase_if(made_,
                [&](const auto& entry) { return !parts_.is_of_use(entry.second.secret_hash); });
  for (auto& [machine, token] : call.tokens) {
    const MadeToken one = token_for(action.target, machine, made.expires);
    made.secret_hashes[machine] = one.secret_hash;
    token = one.token;
  }
  parts_.feed(made);
}

ProviderCalls::MadeToken ProviderCalls::token_for(const std::string& target,
                                                  const std::string& machine, Instant expires) {
  MadeToken& known = made_[{target, machine}];
  if (known.expires < parts_.now() + parts_.limits.token_life / 2) {
    auto made = parts_.make_token(expires);
    known = {std::move(made.reply.token), made.secret_hash, expires};
  }
  return known;
}

void ProviderCalls::perform(const StartProvider& action) {
  const auto found = calls_.find(action.call);
  if (found != calls_.end()) enqueue(action.call, found->second);
}

void ProviderCalls::perform(const StopProvider& action) {
  const auto found = calls_.find(action.call);
  if (found == calls_.end()) return;
  found->second.is_stopped = true;
  const Why why = MachinesNotWanted{};
  log(found->second, "", words::text_of(why));
  if (found->second.process) found->second.process->stop(parts_.now(), MachineFault::failed, why);
}

void ProviderCalls::enqueue(std::uint64_t id, Call& call) {
  if (call.is_waiting || call.process) return;
  call.is_waiting = true;
  waiting_.push_back(id);
  start_next();
}

void ProviderCalls::start_next() {
  while (running_ < parts_.limits.at_once && !waiting_.empty()) {
    const std::uint64_t id = waiting_.front();
    waiting_.pop_front();
    start(id, calls_.at(id));
  }
}

// ---- a call -------------------------------------------------------------------------------------

void ProviderCalls::start(std::uint64_t id, Call& call) {
  ++running_;
  call.started = parts_.now();
  if (call.is_stopped) return end(id, MachineFault::failed, MachinesNotWanted{});
  PreparedRun prepared =
      prepare_run(parts_.setup, call.asked.target, word_of(call.asked.verb), call.tokens);
  call.redactor = std::move(prepared.redactor);
  if (!call.tokens.empty())
    log(call, "", fmt::format("begins for {}", fmt::join(call.asked.machines, ", ")));
  for (ProviderEvent& refused : prepared.refused) take(id, call, std::move(refused));
  if (prepared.request.empty()) return end(id, MachineFault::failed, prepared.why_none);
  run(id, call, prepared);
}

void ProviderCalls::run(std::uint64_t id, Call& call, const PreparedRun& prepared) {
  std::vector<std::string> words = prepared.words;
  words.push_back(word_of(call.asked.verb));
  const Limits& limits = parts_.limits;
  ProviderProcess::Handlers handlers;
  handlers.on_line = [this, id](std::string_view line) { on_line(id, line); };
  handlers.on_error_line = [this, id](std::string_view line) { on_error_line(id, line); };
  handlers.on_end = [this, id](MachineFault fault, const Why& why) { end(id, fault, why); };
  auto input = io::memory_file(prepared.request);
  if (!input) return end(id, MachineFault::failed, told(input.error().message));
  auto process = ProviderProcess::start(
      parts_.loop, words, {std::move(*input), ""},
      {call.asked.verb == ProviderVerb::create ? limits.create : limits.remove, limits.lines, false,
       limits.grace},
      call.started, std::move(handlers));
  if (!process) return end(id, MachineFault::failed, told(process.error().message));
  call.process = *std::move(process);
}

void ProviderCalls::on_line(std::uint64_t id, std::string_view line) {
  Call& call = calls_.at(id);
  if (line.empty()) return;
  auto event = read_event(line);
  if (!event) {
    call.was_not_understood = true;
    return log(call, "", fmt::format("this {}: {}", event.error().message, line));
  }
  if (call.asked.verb != ProviderVerb::list && call.tokens.count(event->machine) == 0)
    return log(call, "", fmt::format("ignored, it is not about a machine of this call: {}", line));
  take(id, call, *std::move(event));
}

void ProviderCalls::take(std::uint64_t id, Call& call, ProviderEvent event) {
  if (is_result(event.kind)) call.results.insert(event.machine);
  event.why = call.redactor.clean(event.why);
  event.step = call.redactor.clean(event.step);
  for (auto& [name, value] : event.about) value = call.redactor.clean(value);
  if (call.asked.verb != ProviderVerb::list) log(call, event.machine, to_log(event));
  parts_.feed(ProviderEventInput{id, std::move(event)});
}

void ProviderCalls::on_error_line(std::uint64_t id, std::string_view line) {
  log(calls_.at(id), "", std::string(line));
}

void ProviderCalls::end(std::uint64_t id, MachineFault fault, const Why& why) {
  const auto found = calls_.find(id);
  const Call& call = found->second;
  Why how = call.redactor.clean(why);
  if (call.was_not_understood && fault == MachineFault::failed)
    how = ProviderNotUnderstood{call.asked.target, std::move(how)};
  const std::string took = format_duration(parts_.now() - call.started);
  if (call.results.size() < call.asked.machines.size())
    log(call, "",
        fmt::format("ended after {}; for machines without a result: {}", took,
                    words::text_of(how)));
  else
    log(call, "", "ended after " + took);
  parts_.feed(ProviderEndedInput{id, fault, std::move(how)});
  calls_.erase(found);
  --running_;
}

void ProviderCalls::log(const Call& call, const std::string& machine, const std::string& text) {
  log_.add(call.asked.target, parts_.now(), word_of(call.asked.verb), machine,
           call.redactor.clean(text));
}

// ---- time ---------------------------------------------------------------------------------------

void ProviderCalls::turn_end() {
  const Instant now = parts_.now();
  for (auto& [id, call] : calls_)
    if (call.process) call.process->tick(now);
  start_next();
  holds_.tick();
  checks_.tick();
}

Duration ProviderCalls::wait() const {
  Instant due = std::min(holds_.due(), checks_.due());
  for (const auto& [id, call] : calls_)
    if (call.process) due = std::min(due, call.process->due());
  if (due == Instant::never()) return Duration::max();
  return std::max(due - parts_.now(), Duration::zero());
}

std::vector<int> ProviderCalls::pids() const {
  std::vector<int> pids = holds_.pids();
  for (const int pid : checks_.pids()) pids.push_back(pid);
  for (const auto& [id, call] : calls_)
    if (call.process) pids.push_back(call.process->pid());
  return pids;
}

}  // namespace lockstep::launcher
