#pragma once
// The classes of the texts in views, and the rule who is shown which: whoever may see a job is
// shown the launcher's texts about it; only those who may read it are shown the texts of the job
// itself (DESIGN section 13). launcher/api/queries/viewer.h applies the rule to each text of a
// view; each text is made with its class.

#include <utility>
#include <vector>

#include "common/domain/messages/views.h"

namespace lockstep::launcher {

enum class WordsOf {
  // The launcher's own words: about state, place, resources and times, with names of nodes, targets
  // and users.
  launcher,
  job,     // words of the job: how it failed, paths, packages and their indexes, steps
  output,  // words that its ranks wrote
};

// Whether words are shown. `reads`: the person may read the job, and not only see it.
constexpr bool is_told(WordsOf of, bool reads) {
  switch (of) {
    case WordsOf::launcher: return true;
    case WordsOf::job:
    case WordsOf::output: return reads;
  }
  return false;
}

// True if the texts may name other jobs. Those names are hidden from readers who may not see these
// jobs. What ranks wrote is never changed.
constexpr bool may_name_jobs(WordsOf of) { return of != WordsOf::output; }

// Lines for readers who may read a job, and lines for all others who may see it.
struct LinesFor {
  std::vector<ExplainLine> lines;

  // Adds a line. `instead` is shown to readers who may not see `why`; none: they are shown nothing.
  void add(WordsOf of, Why why, Why instead = {}, int indent = 0) {
    if (is_told(of, false)) instead = why;
    if (why || instead) lines.push_back({std::move(why), std::move(instead), indent});
  }
};

}  // namespace lockstep::launcher
