#include "launcher/daemon/providers/checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "common/io/programs/run_program.h"
#include "launcher/daemon/providers/target_log.h"
#include "launcher/words/why.h"

namespace lockstep::launcher {
namespace {

constexpr std::size_t kMaxErrors = 3;  // the most errors in one answer

}  // namespace

void ProviderChecks::perform(const CheckProvider& action) {
  Check& check = checks_[action.check];
  check.spec = action.spec;
  if (const Status started = start(action.check, check); !started)
    answer(action.check, one_line(started.error().message, kMaxEventTextBytes));
}

std::string ProviderChecks::state_of(std::uint64_t id, const ComputeSpec& spec) const {
  const LauncherHome& home = parts_.setup.home;
  return parts_.setup.spec(spec.name) != nullptr ? home.compute_state(spec.name)
                                                 : home.compute_check(id);
}

Status ProviderChecks::start(std::uint64_t id, Check& check) {
  const PreparedRun prepared = prepare_check(parts_.setup, check.spec, state_of(id, check.spec));
  if (prepared.request.empty())
    return make_error(ErrorCode::unavailable, words::text_of(prepared.why_none));
  std::vector<std::string> words = prepared.words;
  words.emplace_back("check");
  ProviderProcess::Handlers handlers;
  handlers.on_line = [this, id](std::string_view line) { on_line(id, line); };
  handlers.on_error_line = [](std::string_view) {};
  handlers.on_end = [this, id](MachineFault, const Why& why) { on_end(id, why); };
  TRY_ASSIGN(auto input, io::memory_file(prepared.request));
  TRY_ASSIGN(check.process,
             ProviderProcess::start(parts_.loop, words, {std::move(input), ""},
                                    {limits_.time, limits_.lines, false, limits_.grace},
                                    parts_.now(), std::move(handlers)));
  return {};
}

void ProviderChecks::on_line(std::uint64_t id, std::string_view line) {
  const auto event = read_event(line);
  Check& check = checks_.at(id);
  if (!event || event->kind != ProviderEvent::Kind::error || check.errors.size() >= kMaxErrors)
    return;
  check.errors.push_back(
      fmt::format("{}: {}", to_string(event->fault), words::text_of(event->why)));
}

void ProviderChecks::on_end(std::uint64_t id, const Why& why) {
  const Check& check = checks_.at(id);
  if (!check.errors.empty()) return answer(id, fmt::format("{}", fmt::join(check.errors, "; ")));
  answer(id,
         check.process->has_succeeded() ? "" : one_line(words::text_of(why), kMaxEventTextBytes));
}

void ProviderChecks::answer(std::uint64_t id, std::string why_not) {
  const Check check = std::move(checks_.extract(id).mapped());
  const std::string own = parts_.setup.home.compute_check(id);
  parts_.folders.remove(own);
  if (!why_not.empty())
    why_not = fmt::format(
        "the settings of target '{}' do not work: the check of node source {} "
        "says: {}",
        check.spec.name, to_string(check.spec.source), why_not);
  parts_.feed(ProviderCheckedInput{id, std::move(why_not)});
}

void ProviderChecks::tick() {
  const Instant now = parts_.now();
  for (auto& [id, check] : checks_)
    if (check.process) check.process->tick(now);
}

Instant ProviderChecks::due() const {
  Instant due = Instant::never();
  for (const auto& [id, check] : checks_)
    if (check.process) due = std::min(due, check.process->due());
  return due;
}

std::vector<int> ProviderChecks::pids() const {
  std::vector<int> pids;
  for (const auto& [id, check] : checks_)
    if (check.process) pids.push_back(check.process->pid());
  return pids;
}

}  // namespace lockstep::launcher
