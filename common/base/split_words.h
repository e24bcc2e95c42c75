#pragma once
// Splits a text into words as a shell does: at blanks, with '…', "…" and backslashes. It expands
// nothing: `$HOME` stays as it is.

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace lockstep {

// Splits a text. Errors tell the fault without the text.
Result<std::vector<std::string>> split_words(std::string_view text);

}  // namespace lockstep
