#include "launcher/daemon/attach/route.h"

#include <fmt/format.h>

#include "common/base/cut.h"
#include "launcher/state/state.h"
#include "launcher/words/why.h"

namespace lockstep::launcher {
namespace {

constexpr std::size_t kMaxWords = 300;

using Found = std::variant<AttachTarget, NoAttachTarget>;

NoAttachTarget never(std::string why) { return {std::move(why), false}; }
NoAttachTarget not_yet(std::string why) { return {std::move(why), true}; }

std::string ranks_of(int count) {
  return count == 1 ? "its only rank is 0" : fmt::format("its ranks are 0 to {}", count - 1);
}

// The running attempt for a new attachment.
std::variant<const Attempt*, NoAttachTarget> running_attempt(const Job& job) {
  const std::string status(to_string(job.status()));
  if (job.spec.is_pipeline())
    return never(
        fmt::format("job {0} is a pipeline, which has no ranks; attach to one of its "
                    "steps: `lockstep job show {0}` lists them",
                    job.id.value));
  if (is_final(job.status())) {
    const Instant end = job.finish() ? job.finish()->at : Instant{};
    return never(fmt::format("job {} has ended ({}{}): none of its ranks runs", job.id.value,
                             status, end.ns == 0 ? "" : " at " + to_string(end)));
  }
  const Attempt* last = job.last_attempt();
  if (last == nullptr || last->ended)
    return not_yet(fmt::format("job {} is {}: none of its ranks runs now", job.id.value, status));
  return last;
}

std::variant<const Attempt*, NoAttachTarget> attempt_of(const State& state, const Job& job,
                                                        const AttachOpen& open) {
  if (open.attempt.number == 0) return running_attempt(job);
  const Attempt* attempt = open.attempt.job == job.id ? state.attempt(open.attempt) : nullptr;
  if (attempt == nullptr)
    return never(fmt::format("{} is not an attempt of job {} any more", to_string(open.attempt),
                             job.id.value));
  if (!open.again && (attempt != job.last_attempt() || attempt->ended))
    return never(fmt::format("{} has ended", to_string(open.attempt)));
  return attempt;
}

// The node's rank in the gang, or why the job does not have the rank or node.
std::variant<int, NoAttachTarget> node_rank_of(const JobSpec& spec, const Attempt& attempt,
                                               const AttachOpen& open) {
  const bool is_main = std::holds_alternative<AttachMain>(open.order);
  if (is_main && spec.terminal == TerminalKind::none)
    return never(
        "rank 0 of this job has neither a terminal nor an open standard input; submit it "
        "with `lockstep run --pty` or `--stdin` (lockstep.terminal in a job file), or "
        "start a shell beside the rank: `lockstep job shell`");
  if (is_main && open.rank.value_or(0) != 0)
    return never(fmt::format("rank {} has no terminal: only rank 0 has", *open.rank));
  if (is_main) return spec.node_of_rank(0);
  if (open.rank && *open.rank >= spec.world_size())
    return never(fmt::format("there is no rank {}: {}", *open.rank, ranks_of(spec.world_size())));
  if (open.rank) return spec.node_of_rank(*open.rank);
  if (open.node_rank >= attempt.size())
    return never(fmt::format("there is no node {} in this job, which has {}", open.node_rank,
                             attempt.size()));
  return open.node_rank >= 0 ? open.node_rank : spec.node_of_rank(0);
}

std::optional<NoAttachTarget> why_not_there(const Core& core, const Part& part, bool again) {
  const State& state = core.state();
  const std::string name = state.node_name(part.node);
  if (part.gone())
    return never(
        fmt::format("the ranks on node {} are lost: {}", name, words::text_of(part.gone()->why)));
  if (core.liveness(part.node) != Liveness::alive)
    return not_yet(fmt::format("node {} has not been heard of lately: it is {}", name,
                               to_string(core.liveness(part.node))));
  if (again) return std::nullopt;
  if (!part.at_least(PartState::running)) {
    const std::string progress = part.report ? part.report->progress : "";
    return not_yet(fmt::format("the ranks on node {} do not run yet: it is {}{}{}", name,
                               part.report ? to_string(part.report->state) : "not there yet",
                               progress.empty() ? "" : ", ", progress));
  }
  if (part.at_least(PartState::collecting))
    return never(fmt::format("the ranks on node {} have ended", name));
  return std::nullopt;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (text.size() > kMaxWords) break;
    text += (text.empty() ? "" : " ") + word;
  }
  return cut(std::move(text), kMaxWords);
}

}  // namespace

Found find_target(const Core& core, const AttachOpen& open) {
  const State& state = core.state();
  const Job& job = *state.job(open.job);
  const auto attempt = attempt_of(state, job, open);
  if (const auto* none = std::get_if<NoAttachTarget>(&attempt)) return *none;
  const Attempt& of = *std::get<const Attempt*>(attempt);
  const auto node_rank = node_rank_of(job.spec, of, open);
  if (const auto* none = std::get_if<NoAttachTarget>(&node_rank)) return *none;
  const int index = std::get<int>(node_rank);
  const Part& part = of.parts.at(static_cast<std::size_t>(index));
  if (auto none = why_not_there(core, part, open.again)) return *std::move(none);
  return AttachTarget{of.id, part.node, index, job.spec.first_rank_on(index),
                      job.spec.ranks_on(index)};
}

std::string why_no_more(const State& state, const AttachTarget& target) {
  const Attempt* attempt = state.attempt(target.attempt);
  if (attempt == nullptr) return fmt::format("job {} was deleted", target.attempt.job.value);
  const Part& part = attempt->parts.at(static_cast<std::size_t>(target.node_rank));
  if (!part.gone()) return "";
  return fmt::format("the ranks on node {} are lost: {}", state.node_name(part.node),
                     words::text_of(part.gone()->why));
}

std::string_view verb_of(const AttachOrder& order) {
  if (std::holds_alternative<AttachSignal>(order)) return "signal job";
  if (std::holds_alternative<AttachStacks>(order)) return "stacks job";
  if (std::holds_alternative<AttachMain>(order)) return "attach job";
  return "shell job";
}

std::string words_of(const AttachOrder& order) {
  if (const auto* signal = std::get_if<AttachSignal>(&order))
    return fmt::format("signal {}", signal->number);
  if (const auto* stacks = std::get_if<AttachStacks>(&order))
    return std::string(stacks->native ? "stacks, native ones too" : "stacks") +
           (stacks->standings ? ", and what the ranks do" : "");
  if (std::holds_alternative<AttachMain>(order)) return "the streams of rank 0";
  const auto& argv = std::get<AttachProgram>(order).argv;
  return argv.empty() ? "a shell" : joined(argv);
}

}  // namespace lockstep::launcher
