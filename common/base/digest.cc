#include "common/base/digest.h"

#include <openssl/evp.h>

#include <cstring>

#include "common/base/check.h"

namespace lockstep {

namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// The algorithm, looked up once: with EVP_sha256(), OpenSSL searches its providers at every
// initialisation.
const EVP_MD* algorithm() {
  static const EVP_MD* const fetched = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return fetched != nullptr ? fetched : EVP_sha256();
}

}  // namespace

std::string Digest::hex() const {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(64);
  for (std::uint8_t b : bytes) {
    text += digits[b >> 4];
    text += digits[b & 15];
  }
  return text;
}

std::string_view Digest::view() const {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::optional<Digest> Digest::from_hex(std::string_view text) {
  if (text.size() != 64) return std::nullopt;
  Digest digest;
  for (std::size_t i = 0; i < 32; ++i) {
    const int high = hex_value(text[2 * i]);
    const int low = hex_value(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    digest.bytes[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  return digest;
}

std::optional<Digest> Digest::from_bytes(std::string_view raw) {
  if (raw.size() != 32) return std::nullopt;
  Digest digest;
  std::memcpy(digest.bytes.data(), raw.data(), 32);
  return digest;
}

struct Sha256::Context {
  EVP_MD_CTX* md = EVP_MD_CTX_new();
  ~Context() { EVP_MD_CTX_free(md); }
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  CHECK(EVP_DigestInit_ex(context_->md, algorithm(), nullptr) == 1, "SHA-256 is unavailable");
}

Sha256::~Sha256() = default;

void Sha256::update(std::string_view data) {
  CHECK(EVP_DigestUpdate(context_->md, data.data(), data.size()) == 1, "SHA-256 update");
}

Digest Sha256::finish() {
  Digest digest;
  unsigned int size = 0;
  CHECK(EVP_DigestFinal_ex(context_->md, digest.bytes.data(), &size) == 1, "SHA-256 finish");
  CHECK(size == 32, "SHA-256 size");
  return digest;
}

Digest sha256(std::string_view data) {
  Sha256 hash;
  hash.update(data);
  return hash.finish();
}

}  // namespace lockstep
