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

inline constexpr std::size_t kMaxRequirementsDepth = 16;        // of files that name files
inline constexpr std::size_t kMaxRequirementsBytes = 64 << 20;  // of all of them

// The text of a file; `path` is relative to the working directory, or absolute.
using ReadText = std::function<Result<std::string>(const std::string& path)>;

// The same without a byte order mark; what is not UTF-8 text is an error with its place.
ReadText checked(ReadText read_text);

// Appends to options, requirements and constraints of `environment`. Errors begin with FILE:LINE,
// and the column where pip's grammar has one.
Status read_requirements(const std::string& path, const ReadText& read_text,
                         VenvEnvironment& environment);

// One line of a list in YAML, or of --pip: the same rules, without -r and -c.
Status add_requirement(std::string_view line, VenvEnvironment& environment);

// The same with -r and -c, of files beside `path`: an entry of a conda file's pip section.
Status add_entry(std::string_view line, const std::string& path, const ReadText& read_text,
                 VenvEnvironment& environment);

// What else to do than to write a password into an address of pip's, or of conda's.
inline constexpr std::string_view kNoPasswordOfPip =
    "set PIP_INDEX_URL for the nodes' agents instead, or ~/.netrc of the user on the nodes";
inline constexpr std::string_view kNoPasswordOfConda = "name a mirror that needs none";

// That no address in a line holds a password or a token.
Status check_no_secret(std::string_view line, std::string_view instead_of_password);

}  // namespace lockstep::spec
