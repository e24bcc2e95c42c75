#pragma once
// The state of one neighbour in the gang's tree, from its first frame to its end. Each event is a
// function from one state to the next; no socket and no clock here.

namespace lockstep::runner {

enum class Standing {
  expected,  // not a frame of it has come yet
  present,   // it was heard
  informed,  // it has answered our bye
  leaving,   // it said bye: it needs nothing more from us
  refused,   // it greeted for another attempt, or sends what we cannot read: not heard any more
  // The last three states after the neighbour was reported lost for its silence. It is reported
  // once. A neighbour that comes back is accepted again, because only the launcher decides that a
  // node is gone.
  lost,
  left,      // after `leaving`
  expelled,  // after `refused`
};

Standing after_frame(Standing standing);
Standing after_bye(Standing standing);
Standing after_answer(Standing standing);  // to our bye
Standing after_refusal(Standing standing);
Standing after_silence(Standing standing);

bool is_listened_to(Standing standing);
bool is_reported_lost(Standing standing);
// True: the neighbour may still need messages that we sent to it.
bool needs_us(Standing standing);

}  // namespace lockstep::runner
