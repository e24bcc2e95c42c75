#pragma once
// The classes of the words that views show, and the one rule who is told which. Whoever may see a
// job is told the launcher's words on it; only who may read it, the job's (DESIGN section 13).
// launcher/api/queries/viewer.h applies the rule to each text of a view; a text is made with its
// class.

#include <utility>
#include <vector>

#include "common/domain/messages/views.h"

namespace lockstep::launcher {

enum class WordsOf {
  launcher,  // its own, on state, place, resources and times, with names of nodes, targets and
             // users
  job,       // on what the job is and did: how it failed, paths, packages and their indexes, steps
  output,    // what its ranks wrote
};

// `reads`: the person may read the job, and not only see it.
constexpr bool is_told(WordsOf of, bool reads) {
  switch (of) {
    case WordsOf::launcher: return true;
    case WordsOf::job:
    case WordsOf::output: return reads;
  }
  return false;
}

// Whether other jobs are named in them, which are hidden from those who may not see these jobs.
// What ranks wrote is never changed.
constexpr bool may_name_jobs(WordsOf of) { return of != WordsOf::output; }

// Lines for those who may read a job, and for all others who may see it.
struct LinesFor {
  std::vector<ExplainLine> lines;

  // `instead`: what is told in place of words that are not told; none: nothing.
  void add(WordsOf of, Why why, Why instead = {}, int indent = 0) {
    if (is_told(of, false)) instead = why;
    if (why || instead) lines.push_back({std::move(why), std::move(instead), indent});
  }
};

}  // namespace lockstep::launcher
