#pragma once
// The state of one neighbour in the gang's tree, from its first frame to its end. Each event is a
// function from one state to the next; it uses no socket and no clock.

namespace lockstep::runner {

enum class Standing {
  expected,  // no frame of the neighbour has arrived yet
  present,   // a frame of it has arrived
  informed,  // the neighbour has answered our bye
  leaving,   // the neighbour sent bye: it needs nothing more from us
  refused,   // the hello was for another attempt, or the frames are unreadable; frames are ignored
  // The states after a silence that was reported as its loss, which happens once. If it comes back,
  // its frames are accepted again, because only the launcher decides that a node is gone.
  lost,      // the neighbour was lost after `expected`, `present` or `informed`
  left,      // the neighbour has left, after `leaving`
  expelled,  // the neighbour was expelled, after `refused`
};

Standing after_frame(Standing standing);
Standing after_bye(Standing standing);
Standing after_answer(Standing standing);  // the standing after the answer to our bye
Standing after_refusal(Standing standing);
Standing after_silence(Standing standing);

bool is_listened_to(Standing standing);
bool is_reported_lost(Standing standing);
// Whether it may still need messages that we sent to it.
bool needs_us(Standing standing);

}  // namespace lockstep::runner
