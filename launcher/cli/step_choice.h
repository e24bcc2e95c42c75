#pragma once
// Which job a verb is about when it is given a pipeline and one of its steps (--step). The job of a
// step that was reused is the one that stands in for it, and the reader is told.

#include <string>

#include "common/domain/views.h"
#include "launcher/cli/connection.h"
#include "launcher/cli/terminal.h"

namespace CLI {
class App;
}

namespace lockstep::cli {

void add_step(CLI::App& verb, std::string& step);

// The job of a pipeline's step, or the one that it is reused from. Errors begin with `verb` and
// name the steps.
Result<JobId> job_of_step(const std::string& verb, const JobView& job, const std::string& name);

// "step 'train' was reused from job nice-owl, whose log this is"; "" for any other step. `what`:
// "log this is".
std::string reused_text(const StepView& step, const std::string& what);

// The job of this name (as of named_job.h), or that of its step `step`. Says on `terminal` where a reused one is from.
Result<JobView> chosen_job(Connection& connection, Terminal& terminal, const std::string& verb,
                           const std::string& name, const std::string& step,
                           const std::string& what);

}  // namespace lockstep::cli
