#pragma once
// The users' secrets in a backup, if they are requested; and the list of things that a backup
// leaves out.

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "launcher/home/layout.h"

namespace lockstep::launcher {

// Makes a key pair for backups: `path` (0600) opens texts that are sealed to `path`.pub. Existing
// keys stay.
Result<PublicKey> make_backup_key(const std::string& path);
// Reads the key in a file that make_backup_key wrote as .pub. Returns invalid_argument for another
// file; the private one is refused, because it must not be where backups are taken.
Result<PublicKey> read_backup_key(const std::string& path);

// The number of the users' secrets in the home.
Result<std::uint64_t> count_secrets(const LauncherHome& home);
// Both return the number of secrets.
Result<std::uint64_t> save_secrets(const LauncherHome& home, const std::string& key_path,
                                   const std::string& to);
Result<std::uint64_t> restore_secrets(const std::string& sealed_path, const std::string& key_path,
                                      const LauncherHome& home);

// The things of the home that no backup has, one line each, with the way to keep them. `secrets`:
// how many are left out.
std::vector<std::string> left_out_of(const LauncherHome& home, std::uint64_t secrets);

}  // namespace lockstep::launcher
