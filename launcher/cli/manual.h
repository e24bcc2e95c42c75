#pragma once
// Manual pages, made of the parser's verbs and options: lockstep(1), and lockstep-job(1) and so on,
// one for each first word.

#include <string>
#include <vector>

#include "common/base/result.h"

namespace CLI {
class App;
}

namespace lockstep::cli {

// The page for man(1), in roff. `verb` "": the page of all.
Result<std::string> manual_page(const CLI::App& verbs, const std::string& verb);

// Answers `help --man [VERB]` with a page, and `help --man-pages DIR` by writing all pages to DIR;
// `words` begin with the option. Returns invalid_argument if the verb does not exist, or for other
// words.
Result<std::string> manual_text(const std::vector<std::string>& words);

}  // namespace lockstep::cli
