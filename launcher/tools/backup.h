#pragma once
// `lockstepd backup` and `restore`. A backup is a directory in the form of a launcher's home, taken
// while the launcher works: the journal as it is at one moment, and all that it refers to. It holds
// the launcher's keys, so that agents and users find the restored launcher to be the same one.
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
  std::vector<std::string> problems;  // what the journal refers to and the launcher lacks itself
};

// `to` is made, and must not hold anything. Waits while the launcher removes something.
Result<BackupReport> backup(const std::string& home, const std::string& to);

// Into a home that must not hold anything. The journal gets a word that it was restored, so that
// the launcher does not take up revisions and attempts of what came after the backup.
Result<BackupReport> restore(const std::string& from, const std::string& home);

}  // namespace lockstep::launcher
