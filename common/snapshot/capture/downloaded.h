#pragma once
// Marks a folder as one that `lockstep job download` or `model download` made, with an extended
// attribute that names its owner: a job, or NAME:VERSION. It stays with the folder when that is
// renamed, and goes with it. A snapshot of source leaves marked folders out, and a download never
// mixes two owners in one. Where the file system has no attributes of users, nothing is marked, and
// the caller says so.

#include <optional>
#include <string>

namespace lockstep::snapshot {

// The value of SkippedPath::pattern for such folders.
inline constexpr char kDownloaded[] = "downloaded by lockstep";

// Marks a folder as downloaded. False: the folder cannot be marked.
bool mark_downloaded(const std::string& folder, const std::string& owner);

// Marks the folder `to` as `from` is, if that is marked.
void pass_mark_on(int from, int to);

// The owner; nullopt: not marked, or not readable.
std::optional<std::string> downloaded_from(int folder);
std::optional<std::string> downloaded_from(const std::string& folder);

}  // namespace lockstep::snapshot
