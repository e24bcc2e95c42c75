#pragma once
// Findings about the ranks of a gang in English. A finding is reported when it appears and when it
// is over; both texts name ranks, nodes and commands. Paths, stacks and addresses come only from
// texts of the finding, which readers who may not read the job do not get
// (launcher/api/queries/viewer.h).

#include "common/domain/ranks/found.h"
#include "launcher/words/said.h"

namespace lockstep::words {

// "ranks 0–2 have waited 130 s for rank 3 on n3, which computes in eval.py:88". An alarm begins
// with "hang: ".
Said say(const Found& found, const About& about);

// The place of a hang's stacks: "the stacks of all ranks are kept: `lockstep job files train` …";
// "": none are kept.
std::string say_kept_stacks(const About& about);

// The text for a finding that does not hold any more: "rank 3 on n3 runs again".
std::string say_over(const Found& found, const About& about);

// Why the attempt was ended for it (lockstep.on_hang): the finding without its remedy.
std::string say_cause(const Found& found, const About& about);

// Whether both are about the same: kind, verdict and ranks, whatever their numbers are.
bool is_same(const Found& a, const Found& b);

// The news in `now` for a reader of `before`.
struct FoundDifference {
  FoundList fresh;  // holds now, and did not with this verdict
  // The findings that ended: nothing of this kind about any of its ranks holds any more; for a
  // wait, no other wait either.
  FoundList over;
};
FoundDifference difference_of(const FoundList& before, const FoundList& now);
// Whether both lists say the same, whatever their numbers are.
bool say_the_same(const FoundList& a, const FoundList& b);

}  // namespace lockstep::words
