#pragma once
// Finds the job of a verb when it is given a pipeline and one of its steps (NAME/STEP or --step),
// or an array and one of its tasks (sweep/3). For a reused step this is the job that replaces it,
// and a reader of its log or files is told.

#include <string>

#include "common/domain/messages/views.h"
#include "launcher/cli/link/connection.h"
#include "launcher/cli/terminal/terminal.h"

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

// The step's own job: of a step that was reused, which would change another pipeline's job, a
// conflict that names that job. Other errors as of job_of_step.
Result<JobId> own_job_of_step(const std::string& verb, const JobView& job, const std::string& name);

// Tells on `terminal` the job's user, unless it is the asker: a name alone does not show the user.
// Costs a request; prints nothing that the launcher does not tell.
void say_whose(Connection& connection, Terminal& terminal, const JobView& job);
void say_whose(Connection& connection, Terminal& terminal, const JobId& job);

// The job's id, for a verb whose answer names the job. Each verb that takes a job's name uses one
// of these functions. `word` is NAME or NAME/STEP; the launcher is asked only for NAME/STEP. Errors
// as of job_of_step.
Result<JobId> named_job(Connection& connection, const std::string& verb, const std::string& word);
// The job's id, for a verb that reads the job without naming it: tells on `terminal` from which job
// a reused one is. `what` as of reused_text.
Result<JobId> job_to_read(Connection& connection, Terminal& terminal, const std::string& verb,
                          const std::string& word, const std::string& what);
// The job's id, for a verb that changes the job. Errors as of own_job_of_step.
Result<JobId> job_to_change(Connection& connection, const std::string& verb,
                            const std::string& word);

// The job of `word`, as named_job finds it, or the job of its step `step_option`. Tells on
// `terminal` from which job a reused one is.
Result<JobView> chosen_job(Connection& connection, Terminal& terminal, const std::string& verb,
                           const std::string& word, const std::string& step_option,
                           const std::string& what);

}  // namespace lockstep::cli
