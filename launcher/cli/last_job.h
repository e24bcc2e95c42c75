#pragma once
// `@last`: the caller's newest job, wherever an option or argument takes the name of a job. The
// parser replaces it only in options marked with job_name(), so a title or a command may contain
// the word.

#include <string>

#include "launcher/cli/base/verb_context.h"

namespace CLI {
class App;
}

namespace lockstep::cli {

// Whether the text names it: "@last", "prep,@last:ended", "@last/3".
bool names_last_job(const std::string& text);
// The same text with the job's name.
std::string with_last_job(std::string text, const std::string& name);

// Replaces `@last` in the options of `app` and its verbs that take the name of a job by `name`;
// with "" the word stays. `is_named`, which must outlive the parsing, is set if one has it.
void resolve_last_job(CLI::App& app, const std::string& name, bool& is_named);

// The newest job that the caller submitted and that is not a step's. Returns not_found if there is
// none.
Result<std::string> last_job(const Context& context);

}  // namespace lockstep::cli
