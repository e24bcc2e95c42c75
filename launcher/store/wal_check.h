#pragma once
// Checks a journal's WAL before SQLite reads it. SQLite takes a WAL up to the first invalid frame
// and drops the rest. That is right after a crash, which tears only a commit that was acknowledged
// to nobody; but if a bit flipped in an older frame, all facts after it would be lost silently. The
// two can be told apart, because a commit is synced before the next one begins: an invalid frame
// that a later commit follows is damage.
//
// Source of the format: https://www.sqlite.org/fileformat2.html#walformat

#include <string>

#include "common/base/result.h"

namespace lockstep::launcher {

// Checks a WAL. Returns corrupt, with the file and the byte, if a commit that was followed by
// another is invalid. `path`: the journal's. A missing or empty WAL is valid.
Status check_wal(const std::string& path);

}  // namespace lockstep::launcher
