#pragma once
// The credentials of attempts (docs/decisions/055). It derives the key pair of an attempt from a
// secret of this launcher, so that nothing is stored, and a restarted launcher accepts the keys
// that running ranks have. It remembers which attempt each key is of, and asks the core at each
// message whether that attempt still counts.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/io/net/transport.h"
#include "launcher/core/access/authority.h"

namespace lockstep::launcher {

// Reads the secret, 32 bytes in a file of mode 0600, or makes it. Returns corrupt if the file has
// another size.
Result<std::string> load_or_create_attempts_secret(const std::string& path);

// The secret key of an attempt: HMAC-SHA256(secret, job NUL incarnation NUL number), as a CURVE
// key.
std::string secret_key_of_attempt(const std::string& secret, const AttemptId& attempt);
io::KeyPair key_of_attempt(const std::string& secret, const AttemptId& attempt);

class AttemptKeys {
 public:
  // Finds the caller of an attempt; nullopt: its credential does not count.
  using CallerOf = std::function<std::optional<AttemptCaller>(const AttemptId&)>;
  AttemptKeys(std::string secret, CallerOf caller_of)
      : secret_(std::move(secret)), caller_of_(std::move(caller_of)) {}

  // The secret key of the attempt, which is accepted from now on. "": its credential does not
  // count.
  std::string issue(const AttemptId& attempt);
  std::optional<AttemptCaller> holder_of(const PublicKey& key);

 private:
  void forget_ended();
  void derive();

  const std::string secret_;
  const CallerOf caller_of_;
  std::map<AttemptId, std::string> secrets_;  // secret keys
  std::map<PublicKey, AttemptId> attempts_;
  // The attempts with issued keys that are not in attempts_ yet: few attempts ever ask for
  // something, and a public key costs more than the rest of an assignment. They are derived when an
  // unknown key asks.
  std::vector<AttemptId> underived_;
  std::size_t look_at_ = 1'000;  // the number at which keys of ended attempts are removed
};

}  // namespace lockstep::launcher
