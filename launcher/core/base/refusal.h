#pragma once
// Why a job would be refused: each reason with the job file's key that it is about, so that whoever
// asks can say its place.

#include <string>

#include "common/base/result.h"

namespace lockstep::launcher {

struct Refusal {
  Error error;
  std::string key = {};   // "name", "lockstep.project"; "": of the job as a whole
  std::string step = {};  // of a pipeline or an array; "": the job itself

  // For people without places: of a step it begins with "jobs.STEP: ".
  Error whole() const { return step.empty() ? error : error.within("jobs." + step); }
};

struct Judging {
  enum class What {
    all,
    names,  // of a job that could be read in part: not whether values, nodes and quotas allow it
  };
  What what = What::all;
  bool wait_anyway = false;  // as of Submit
};

}  // namespace lockstep::launcher
