#pragma once
// Secrets in a backup: sealed to the public key of the backup's keeper (libsodium's sealed box:
// X25519, XSalsa20-Poly1305), so that neither the backup nor the machine that takes it can read
// them again. The keys have the form of CURVE keys. docs/decisions/076-secrets-in-backups.md.
//
//   "lockstep-secrets 1\n", the public key in Z85 and "\n", then the box. In it: CBOR.

#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/io/net/transport.h"
#include "launcher/store/secret_store.h"

namespace lockstep::launcher {

Result<std::string> seal_secrets(const std::vector<StoredSecret>& secrets, const PublicKey& to);
// Opens sealed secrets. Returns invalid_argument if they are sealed to another key, and corrupt if
// they were changed or the text has another form.
Result<std::vector<StoredSecret>> unseal_secrets(const std::string& sealed,
                                                 const io::KeyPair& keys);
// Overwrites the values in memory.
void wipe(std::vector<StoredSecret>& secrets);

}  // namespace lockstep::launcher
