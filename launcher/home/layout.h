#pragma once
// The on-disk tree of one launcher; no path in it is put together anywhere else.
//
//   <home>/                       mode 0700
//     lock                        held while the daemon lives; contains its process id
//     endpoint.json               0600: pid, start_ticks, control, bulk, join, public_key; written
//                                 when the daemon is ready; a restart uses the same ports again
//     started.json                0600: launcher/start_record.h
//     moving_to                   where this launcher will be: daemon/moving_to.h
//     keys/launcher.key           0600, the launcher's CURVE keys
//     keys/attempts.key           0600: daemon/keys/attempt_keys.h
//     keys/authorized_users       "NAME PUBLICKEY" a line; read again when it changes
//     environments.map            written by the operator: files/environment/environment_map.h
//     fabric.yml                  written by the operator: launcher/files/targets/fabric_file.h
//     datastores.yml              written by the operator: launcher/files/data/datastores_file.h
//     remote/                     what of remote datastores was fetched: daemon/remotes/fetcher.h;
//                                 and what is being written to them: daemon/remotes/writer.h
//     version                     kHomeVersion, as text; absent in version 1
//     journal.db and -wal, -shm   all facts (launcher/store); journal.db.compact while it is
//                                 compacted, journal.db.v1 while an older one is migrated
//     journal.db.least            the least number of facts (launcher/store/least_facts.h)
//     archive.db and -wal, -shm   ended jobs and their use (launcher/archive), made of the journal;
//                                 archive.db.rebuild while it is made anew
//     metrics.db and -wal, -shm   what jobs logged (launcher/metrics); metrics.db.damaged: one
//                                 that could not be read
//     reserve                     blocks that the daemon frees when the disk is full
//     stores.lock                 held while something is removed from the stores below; a backup
//                                 takes it shared, as it needs all that its journal refers to
//     secrets/                    launcher/store/secret_store.h; in a backup only sealed
//     logs/                       launcher/logs/log_store.h
//     audit/                      launcher/audit/folder.h
//     compute/TARGET/             0700: what a provider keeps for a target (decision 038)
//     compute/.check-N/           0700: the same for a check of settings, while it runs
//     compute/.gone-N/            of a deleted target, until it is removed
//     compute/TARGET.log          0600: target_log.h, and TARGET.log.old before it; in no backup
//     blobs/                      common/snapshot/content/blob_store.h
//     blobs.sent                  0600: who sent which blob (ledger.h); if it is lost, clients
//                                 send their blobs again

#include <cstdint>
#include <string>

#include "launcher/audit/folder.h"

namespace lockstep::launcher {

// Increased when an older program could not use the tree. Version 1 has no `version` file.
inline constexpr int kHomeVersion = 2;

class LauncherHome {
 public:
  explicit LauncherHome(std::string path) : path_(std::move(path)) {}
  const std::string& path() const { return path_; }
  std::string lock() const { return path_ + "/lock"; }
  std::string endpoint() const { return path_ + "/endpoint.json"; }
  std::string started() const { return path_ + "/started.json"; }
  std::string moving_to() const { return path_ + "/moving_to"; }
  std::string keys() const { return path_ + "/keys"; }
  std::string launcher_key() const { return keys() + "/launcher.key"; }
  std::string attempts_key() const { return keys() + "/attempts.key"; }
  std::string authorized_users() const { return keys() + "/authorized_users"; }
  std::string environments_map() const { return path_ + "/environments.map"; }
  std::string fabric() const { return path_ + "/fabric.yml"; }
  std::string datastores() const { return path_ + "/datastores.yml"; }
  std::string remote_data() const { return path_ + "/remote"; }
  std::string journal() const { return path_ + "/journal.db"; }
  std::string archive() const { return path_ + "/archive.db"; }
  std::string metrics() const { return path_ + "/metrics.db"; }
  std::string reserve() const { return path_ + "/reserve"; }
  std::string version() const { return path_ + "/version"; }
  std::string stores_lock() const { return path_ + "/stores.lock"; }
  std::string secrets() const { return path_ + "/secrets"; }
  std::string audit() const { return audit_folder(path_); }
  std::string logs() const { return path_ + "/logs"; }
  std::string site_providers() const { return path_ + "/providers"; }
  std::string compute() const { return path_ + "/compute"; }
  // `target` is a valid name (check_compute_name), so it is no path.
  std::string compute_state(const std::string& target) const { return compute() + "/" + target; }
  std::string compute_log(const std::string& target) const {
    return compute_state(target) + ".log";
  }
  std::string old_compute_log(const std::string& target) const {
    return compute_log(target) + ".old";
  }
  // Names of targets do not begin with a dot.
  std::string compute_check(std::uint64_t check) const {
    return compute() + "/.check-" + std::to_string(check);
  }
  std::string gone_compute(std::uint64_t number) const {
    return compute() + "/.gone-" + std::to_string(number);
  }
  std::string blobs() const { return path_ + "/blobs"; }
  std::string blobs_sent() const { return path_ + "/blobs.sent"; }

 private:
  std::string path_;
};

}  // namespace lockstep::launcher
