#pragma once
// `lockstepd backup` and `restore`. A backup is a directory in the form of a launcher's home; it
// can be taken while the launcher runs. It has the journal as of one moment, and all that the
// journal refers to. It has the launcher's keys, so that agents and users recognise the restored
// launcher.
//
//   <backup>/ backup.json (what, of when, by which version), version, endpoint.json, started.json,
//             keys/, journal.db, blobs/, logs/, audit/

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"

namespace lockstep::launcher {

struct BackupReport {
  std::string from, to;
  Instant taken;
  std::uint64_t facts = 0, jobs = 0, blobs = 0, logs = 0;
  std::vector<std::string> problems;  // what the journal refers to but the source does not have
};

// Creates `to`; if it exists, it must be empty. Waits while the launcher removes something.
Result<BackupReport> backup(const std::string& home, const std::string& to);

// Creates `home`; if it exists, it must be empty. Appends a fact to the journal that says that it
// was restored, so that the launcher does not reuse the numbers of revisions and attempts from
// after the backup.
Result<BackupReport> restore(const std::string& from, const std::string& home);

}  // namespace lockstep::launcher
