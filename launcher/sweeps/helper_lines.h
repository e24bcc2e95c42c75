#pragma once
// Questions to launcher/helpers/suggest.py and its answers, as lines of JSON. Pure: who runs the
// helper writes and reads the lines, and bounds its time and memory.

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/domain/sweep.h"
#include "launcher/sweeps/suggestions.h"

namespace lockstep::sweeps {

inline constexpr std::size_t kMaxHelperLine = 16u << 20;  // bytes, of an answer

// Without a newline.
std::string question_line(const SuggestionRequest& request);

// The answer to this request. Errors of the helper are passed on with its words: `unsupported` if
// asking again cannot help (no Optuna, or another version), else `unavailable`; `corrupt` is of a
// line that is no answer.
Result<Suggestions> read_answer(const SweepSpec& sweep, const SuggestionRequest& request,
                                std::string_view line);

}  // namespace lockstep::sweeps
