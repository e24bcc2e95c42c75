#pragma once
// Reads a pip requirements file: removes comments, joins continued lines, and includes the files
// that it names with -r and -c. Format: pip's documentation, "Requirements File Format". It refuses
// entries that could mean different things on different nodes (paths, editable installs) or cannot
// have a hash (version control). It resolves no versions.

#include <string>
#include <string_view>

#include "common/domain/environment/definition.h"
#include "launcher/files/yaml/named_text.h"

namespace lockstep::spec {

inline constexpr std::size_t kMaxRequirementsDepth = 16;        // the depth of nested -r and -c
inline constexpr std::size_t kMaxRequirementsBytes = 64 << 20;  // the size of all files together

// The same `read_text`, as UTF-8 without a byte order mark; text that is not UTF-8 is an error with
// its place.
ReadText checked(ReadText read_text);

// Appends to options, requirements and constraints of `environment`. An error has a line for each
// line that is wrong (faults.h, at most 20), which begins with FILE:LINE, and the column where
// pip's grammar has one.
Status read_requirements(const std::string& path, const ReadText& read_text,
                         VenvEnvironment& environment);

// Adds one line of a list in YAML, or of --pip: the same rules, without -r and -c.
Status add_requirement(std::string_view line, VenvEnvironment& environment);

// Adds an entry of a conda file's pip section: -r and -c are allowed, and their files are relative
// to the folder of `path`.
Status add_entry(std::string_view line, const std::string& path, const ReadText& read_text,
                 VenvEnvironment& environment);

// The advice for errors about a password in an address of pip's or conda's.
inline constexpr std::string_view kNoPasswordOfPip =
    "set PIP_INDEX_URL for the nodes' agents instead, or use ~/.netrc of the user on the nodes";
inline constexpr std::string_view kNoPasswordOfConda = "name a mirror that needs none";

// Returns an error if an address in the line contains a password or a token.
Status check_no_secret(std::string_view line, std::string_view instead_of_password);

}  // namespace lockstep::spec
