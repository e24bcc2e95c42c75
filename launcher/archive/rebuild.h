#pragma once
// Makes the archive anew of the journal, which is the truth: where there is none yet, where its
// file is damaged, and where it cannot go on (Follower::end_replay). Workers call it; the journal
// may be appended to meanwhile, and may not be replaced by a compaction.
//
// A compaction drops the facts of deleted jobs, and with them what these used. So the accounting of
// the old archive is kept, where it can be read and was made of this journal.

#include <string>

#include "common/base/result.h"
#include "launcher/archive/fold.h"
#include "launcher/store/journal_position.h"

namespace lockstep::archive {

struct Rebuilt {
  Fold fold;
  launcher::JournalPosition position;  // of the last fact that is in the archive
  bool kept_accounting = false;
};

// Nobody may have the old archive open. A crash leaves the old file or the new one. While it works
// it needs the memory of the core's state.
Result<Rebuilt> rebuild(const std::string& journal, const std::string& archive,
                        const Fold::Define& define = nullptr);

}  // namespace lockstep::archive
