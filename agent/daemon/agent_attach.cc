// The agent finds runners for its relay of attachments, and tells it which runners have ended.

#include "agent/daemon/agent.h"
#include "common/io/file_system.h"

namespace lockstep::agent {

AttachRelay::Doors Agent::attach_doors() {
  AttachRelay::Doors doors;
  doors.standing = [this](const AttemptId& attempt) {
    if (supervisor_.takes_frames(attempt)) return AttachRelay::Standing::running;
    const io::AttemptDir directory = config_.home.attempt(attempt);
    const bool is_ahead =
        io::exists(directory.assignment()) && !io::exists(directory.final_report());
    return is_ahead ? AttachRelay::Standing::starting : AttachRelay::Standing::absent;
  };
  doors.is_link_up = [this] { return bulk_.is_up(); };
  doors.to_runner = [this](const AttemptId& attempt, const AttachFrame& frame) {
    supervisor_.attach(attempt, frame);
  };
  doors.to_launcher = [this](const AttachFrame& frame) { bulk_.attach(frame); };
  doors.hold_link = [this](bool wanted) { bulk_.hold(wanted); };
  return doors;
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
