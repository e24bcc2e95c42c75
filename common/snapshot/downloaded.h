#pragma once
// Marks a folder as one that `lockstep job download` made, with an extended attribute that names
// the job. It stays with the folder when that is renamed, and goes with it. A snapshot of source
// leaves marked folders out, and a download never mixes two jobs in one. Where the file system has
// no attributes of users, nothing is marked.

#include <optional>
#include <string>

namespace lockstep::snapshot {

// In SkippedPath::pattern.
inline constexpr char kDownloaded[] = "made by lockstep job download";

void mark_downloaded(const std::string& folder, const std::string& job);

// The job; nullopt: not marked, or not readable.
std::optional<std::string> downloaded_from(int folder);
std::optional<std::string> downloaded_from(const std::string& folder);

}  // namespace lockstep::snapshot
