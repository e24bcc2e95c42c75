#include "launcher/daemon/keys/attempt_keys.h"

#include <fmt/format.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/base/digest.h"
#include "common/io/file_system.h"

namespace lockstep::launcher {
namespace {

constexpr std::size_t kSecretBytes = 32;

const unsigned char* raw(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// Computes an HMAC. OpenSSL's HMAC() looks the algorithm up at each call, which costs more than the
// digest itself.
Digest hmac_sha256(const std::string& secret, const std::string& text) {
  struct Mac {
    EVP_MAC* mac = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
    EVP_MAC_CTX* context = mac == nullptr ? nullptr : EVP_MAC_CTX_new(mac);
    ~Mac() {
      EVP_MAC_CTX_free(context);
      EVP_MAC_free(mac);
    }
  };
  thread_local const Mac hmac;
  char sha256[] = "SHA256";
  const OSSL_PARAM with[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, sha256, 0),
                             OSSL_PARAM_construct_end()};
  Digest digest;
  std::size_t size = 0;
  CHECK(hmac.context != nullptr &&
            EVP_MAC_init(hmac.context, raw(secret), secret.size(), with) == 1 &&
            EVP_MAC_update(hmac.context, raw(text), text.size()) == 1 &&
            EVP_MAC_final(hmac.context, digest.bytes.data(), &size, digest.bytes.size()) == 1,
        "HMAC-SHA256 is unavailable");
  return digest;
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

namespace {

Digest key_bytes(const std::string& secret, const AttemptId& attempt) {
  // A job's name never has a NUL, so the parts cannot be confused.
  const std::string text = attempt.job.value + '\0' + std::to_string(attempt.incarnation) + '\0' +
                           std::to_string(attempt.number);
  return hmac_sha256(secret, text);
}

}  // namespace

std::string secret_key_of_attempt(const std::string& secret, const AttemptId& attempt) {
  return io::secret_key_of(key_bytes(secret, attempt));
}

io::KeyPair key_of_attempt(const std::string& secret, const AttemptId& attempt) {
  return io::key_pair_of(key_bytes(secret, attempt));
}

std::string AttemptKeys::issue(const AttemptId& attempt) {
  if (!caller_of_(attempt)) return "";
  if (const auto known = secrets_.find(attempt); known != secrets_.end()) return known->second;
  if (secrets_.size() >= look_at_) forget_ended();
  underived_.push_back(attempt);
  return secrets_.emplace(attempt, secret_key_of_attempt(secret_, attempt)).first->second;
}

void AttemptKeys::derive() {
  for (AttemptId& attempt : std::exchange(underived_, {}))
    if (caller_of_(attempt))
      attempts_.emplace(key_of_attempt(secret_, attempt).public_key, std::move(attempt));
}

std::optional<AttemptCaller> AttemptKeys::holder_of(const PublicKey& key) {
  auto found = attempts_.find(key);
  if (found == attempts_.end()) {
    derive();
    found = attempts_.find(key);
  }
  return found == attempts_.end() ? std::nullopt : caller_of_(found->second);
}

void AttemptKeys::forget_ended() {
  std::erase_if(secrets_, [this](const auto& entry) { return !caller_of_(entry.first); });
  std::erase_if(attempts_, [this](const auto& entry) { return secrets_.count(entry.second) == 0; });
  std::erase_if(underived_, [this](const auto& attempt) { return secrets_.count(attempt) == 0; });
  look_at_ = std::max<std::size_t>(1'000, 2 * secrets_.size());
}

}  // namespace lockstep::launcher
