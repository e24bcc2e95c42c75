#include "launcher/daemon/attempt_keys.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>

#include "common/base/check.h"
#include "common/base/digest.h"
#include "common/io/file_system.h"

namespace lockstep::launcher {
namespace {

constexpr std::size_t kSecretBytes = 32;

const unsigned char* raw(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

Result<std::string> load_or_create_attempts_secret(const std::string& path) {
  if (io::exists(path)) {
    TRY_ASSIGN(std::string secret, io::read_file(path, kibibytes(4)));
    if (secret.size() == kSecretBytes) return secret;
    return make_error(ErrorCode::corrupt,
                      fmt::format("{}: has {} bytes, but the secret of the attempts' keys has {}; "
                                  "restore the file, or remove it: then jobs that run now can no "
                                  "longer submit jobs",
                                  path, secret.size(), kSecretBytes));
  }
  std::string secret(kSecretBytes, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(secret.data()), kSecretBytes) != 1)
    return make_error(ErrorCode::internal,
                      "OpenSSL returned no random bytes for the secret of the attempts' keys");
  TRY(io::write_file_atomically(path, secret, 0600));
  return secret;
}

io::KeyPair key_of_attempt(const std::string& secret, const AttemptId& attempt) {
  // No job's name has a NUL.
  const std::string text = attempt.job.value + '\0' + std::to_string(attempt.incarnation) + '\0' +
                           std::to_string(attempt.number);
  Digest key;
  unsigned int size = 0;
  CHECK(HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), raw(text), text.size(),
             key.bytes.data(), &size) != nullptr,
        "HMAC-SHA256 is unavailable");
  return io::key_pair_of(key);
}

std::string AttemptKeys::issue(const AttemptId& attempt) {
  if (!caller_of_(attempt)) return "";
  if (const auto known = keys_.find(attempt); known != keys_.end()) return known->second.secret_key;
  if (keys_.size() >= look_at_) forget_ended();
  const io::KeyPair key = key_of_attempt(secret_, attempt);
  attempts_.emplace(key.public_key, attempt);
  keys_.emplace(attempt, key);
  return key.secret_key;
}

std::optional<AttemptCaller> AttemptKeys::holder_of(const PublicKey& key) const {
  const auto found = attempts_.find(key);
  return found == attempts_.end() ? std::nullopt : caller_of_(found->second);
}

void AttemptKeys::forget_ended() {
  std::erase_if(keys_, [this](const auto& entry) { return !caller_of_(entry.first); });
  std::erase_if(attempts_, [this](const auto& entry) { return keys_.count(entry.second) == 0; });
  look_at_ = std::max<std::size_t>(1'000, 2 * keys_.size());
}

}  // namespace lockstep::launcher
