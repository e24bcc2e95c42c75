#include "launcher/core/base/context.h"

#include <utility>

namespace lockstep::launcher {

void Pending::touch(const Attempt& attempt) {
  for (const Part& part : attempt.parts) touched_nodes.insert(part.node);
}

Context::Context(CoreConfig settings, Follow follow, Scheduler& of_this)
    : follow_(follow),
      config(std::move(settings)),
      scheduler(of_this),
      clock(config.heartbeat_interval) {}

void Context::emit(Fact fact) {
  memory_.apply(now, fact);
  follow_(*this, fact);
  step.facts.push_back(std::move(fact));
}

void Context::refuse(const ReplyTo& to, ErrorCode code, std::string message) {
  act(ReplyRefused{to, code, std::move(message)});
}

void Context::record(const JobId& job, Event event) {
  const Job& of = *state.job(job);
  notes.add(owner_of_notes(of), {std::move(event), of.events.count()});
}

void record_attempts(Context& core, NodeId id, Event::Kind kind, const Why& why) {
  for (const auto& [attempt, rank] : core.state.node(id)->parts)
    if (!core.state.attempt(attempt)->ended)
      core.record(attempt.job, {core.now, kind, attempt.number, id, why});
}

}  // namespace lockstep::launcher
