#pragma once
// `lockstepd backup` and `restore`. A backup is a directory in the form of a launcher's home; it
// can be taken while the launcher runs. It has the journal as of one moment, and all that the
// journal refers to. It has the launcher's keys, so that agents and users recognise the restored
// launcher.
//
//   <backup>/ backup.json (what, of when, by which version), version, endpoint.json, started.json,
//             keys/, journal.db, archive.db, metrics.db, blobs/, logs/, audit/, and secrets.sealed
//             if it was asked for (store/sealed_secrets.h)

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
  std::vector<std::string> left_out = {};  // what the home has, and the copy does not
  std::uint64_t secrets = 0;               // of users, that were saved or restored
};

// Creates `to`; if it exists, it must be empty. Waits while the launcher removes something.
// `key_path`: the file with the public key to which the users' secrets are sealed; "": they are
// left out.
Result<BackupReport> backup(const std::string& home, const std::string& to,
                            const std::string& key_path = "");

// Creates `home`; if it exists, it must be empty. Appends a fact to the journal that says that it
// was restored, so that the launcher does not reuse the numbers of revisions and attempts from
// after the backup. `key_path`: the private key that opens the secrets; "": they are left out.
Result<BackupReport> restore(const std::string& from, const std::string& home,
                             const std::string& key_path = "");

}  // namespace lockstep::launcher
