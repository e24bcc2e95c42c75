#pragma once
// A reason for which a job would be refused, with the key of the job file that causes it, so that
// the caller can name the place in the file.

#include <string>

#include "common/base/result.h"

namespace lockstep::launcher {

struct Refusal {
  Error error;
  std::string key = {};   // "name", "lockstep.project"; "": the reason concerns the whole job
  std::string step = {};  // the step of a pipeline, or the task of an array; "": the job itself

  // The error for people who do not see the place: for a step, it begins with "jobs.STEP: ".
  Error whole() const { return step.empty() ? error : error.within("jobs." + step); }
};

struct Judging {
  enum class What {
    all,
    // checks only that the names in a partly read job exist, not its values, nodes and quotas
    names,
  };
  What what = What::all;
  bool wait_anyway = false;  // the value of Submit::wait_anyway
};

}  // namespace lockstep::launcher
