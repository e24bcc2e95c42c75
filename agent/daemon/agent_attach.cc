// The agent finds runners for its relay of attachments, and tells it which runners have ended.

#include "agent/daemon/agent.h"
#include "common/io/file_system.h"

namespace lockstep::agent {

AttachRelay::Callbacks Agent::attach_callbacks() {
  AttachRelay::Callbacks callbacks;
  callbacks.standing = [this](const AttemptId& attempt) {
    if (supervisor_.takes_frames(attempt)) return AttachRelay::Standing::running;
    const io::AttemptDir directory = config_.home.attempt(attempt);
    const bool is_ahead =
        io::exists(directory.assignment()) && !io::exists(directory.final_report());
    return is_ahead ? AttachRelay::Standing::starting : AttachRelay::Standing::absent;
  };
  callbacks.is_link_up = [this] { return bulk_.is_up(); };
  callbacks.to_runner = [this](const AttemptId& attempt, const AttachFrame& frame) {
    supervisor_.attach(attempt, frame);
  };
  callbacks.to_launcher = [this](const AttachFrame& frame) { bulk_.attach(frame); };
  callbacks.hold_link = [this](bool wanted) { bulk_.hold(wanted); };
  return callbacks;
}

void Agent::connect_attach_relay() {
  bulk_.on_attach(
      {[this](const AttachFrame& frame) { attach_relay_.from_launcher(frame, clock_.now()); },
       [this] { attach_relay_.on_link_up(clock_.now()); }});
  supervisor_.on_attach({[this](const AttemptId& attempt, const AttachFrame& frame) {
                           attach_relay_.from_runner(attempt, frame);
                         },
                         [this](const AttemptId& attempt) { attach_relay_.gone(attempt); }});
}

}  // namespace lockstep::agent
