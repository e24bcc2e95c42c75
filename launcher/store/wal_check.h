#pragma once
// A look at a journal's WAL before SQLite reads it. SQLite takes a WAL up to the first frame that
// does not stand, and forgets the rest: right for what a crash tore, since that was acknowledged to
// nobody; but a bit that flipped in an older frame would cost all facts behind it, in silence. The
// two can be told apart: a commit is synced before the next one is begun.
//
// Source of the form: https://www.sqlite.org/fileformat2.html#walformat

#include <string>

#include "common/base/result.h"

namespace lockstep::launcher {

// corrupt, naming the file and the byte, when a commit that was followed by another does not stand.
// `path`: of the journal; that its WAL is missing or empty is well.
Status check_wal(const std::string& path);

}  // namespace lockstep::launcher
