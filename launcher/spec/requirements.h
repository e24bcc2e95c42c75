#pragma once
// A pip requirements file as content: comments gone, continued lines joined, files that it names
// with -r and -c read and put in their place. Format: pip's documentation, "Requirements File
// Format". What would mean another thing on each node (paths, editable installs) or cannot be held
// to a hash (version control) is refused by name. It resolves nothing.

#include <functional>
#include <string>
#include <string_view>

#include "common/domain/environment.h"

namespace lockstep::spec {

inline constexpr std::size_t kMaxRequirementsDepth = 16;  // of files that name files

// The text of a file; `path` is relative to the working directory, or absolute.
using ReadText = std::function<Result<std::string>(const std::string& path)>;

// Appends to options, requirements and constraints of `environment`. Errors begin with FILE:LINE.
Status read_requirements(const std::string& path, const ReadText& read_text,
                         VenvEnvironment& environment);

// One line of a list in YAML, or of --pip: the same rules, without -r and -c.
Status add_requirement(std::string_view line, VenvEnvironment& environment);

}  // namespace lockstep::spec
