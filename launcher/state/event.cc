#include "launcher/state/event.h"

#include <utility>

namespace lockstep::launcher {

std::string_view to_string(Event::Kind kind) {
  switch (kind) {
    case Event::Kind::submitted: return "Submitted";
    case Event::Kind::cancel_requested: return "CancelRequested";
    case Event::Kind::updated: return "Updated";
    case Event::Kind::step: return "Step";
    case Event::Kind::placed: return "Placed";
    case Event::Kind::preparing: return "Preparing";
    case Event::Kind::prepared: return "Prepared";
    case Event::Kind::connecting: return "Connecting";
    case Event::Kind::running: return "Running";
    case Event::Kind::part_gone: return "Lost";
    case Event::Kind::failed: return "FirstFailure";
    case Event::Kind::ranks_ended: return "RanksEnded";
    case Event::Kind::collected: return "OutputsCollected";
    case Event::Kind::ended: return "Ended";
    case Event::Kind::requeued: return "Requeued";
    case Event::Kind::finished: return "Finished";
    case Event::Kind::written: return "OutputWritten";
    case Event::Kind::waits: return "Waits";
    case Event::Kind::node_unknown: return "NodeUnknown";
    case Event::Kind::node_heard: return "NodeHeard";
    case Event::Kind::logs_wait: return "LogsWait";
    case Event::Kind::logs_go_on: return "LogsGoOn";
    case Event::Kind::lock_refused: return "LockRefused";
    case Event::Kind::limit_reached: return "LimitReached";
    case Event::Kind::not_kept: return "OutputNotKept";
    case Event::Kind::logs_lost: return "LogsNotKept";
    case Event::Kind::found: return "Found";
    case Event::Kind::hang: return "Hang";
    case Event::Kind::found_over: return "GoesOn";
    case Event::Kind::signaled: return "Signaled";
  }
  return "";
}

void EventList::add(Event event) {
  if (events.size() >= kMaxEvents) {
    events.erase(events.begin() + kFirstEvents);
    ++left_out;
  }
  events.push_back(std::move(event));
}

}  // namespace lockstep::launcher
