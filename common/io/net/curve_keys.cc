#include "common/io/net/curve_keys.h"

#include <unistd.h>
#include <zmq.h>

#include <fmt/format.h>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "common/base/check.h"
#include "common/io/disk.h"
#include "common/io/file_system.h"
#include "common/io/net/transport.h"

namespace lockstep::io {

bool is_z85_key(const std::string& text) {
  std::array<std::uint8_t, 32> raw;
  return text.size() == 40 && zmq_z85_decode(raw.data(), text.c_str()) != nullptr;
}

KeyPair generate_key_pair() {
  char public_key[41] = {}, secret_key[41] = {};
  CHECK(zmq_curve_keypair(public_key, secret_key) == 0, "libzmq was built without CURVE");
  return {PublicKey(public_key), secret_key, ""};
}

Result<KeyPair> key_pair_with(const std::string& secret_key) {
  char public_key[41] = {};
  if (!is_z85_key(secret_key) || zmq_curve_public(public_key, secret_key.c_str()) != 0)
    return make_error(ErrorCode::corrupt, "a secret key has 40 characters of Z85");
  return KeyPair{PublicKey(public_key), secret_key, ""};
}

std::string secret_key_of(const Digest& secret) {
  char secret_key[41] = {};
  CHECK(zmq_z85_encode(secret_key, secret.bytes.data(), secret.bytes.size()) != nullptr,
        "32 bytes can be encoded");
  return secret_key;
}

KeyPair key_pair_of(const Digest& secret) {
  char public_key[41] = {};
  std::string secret_key = secret_key_of(secret);
  CHECK(zmq_curve_public(public_key, secret_key.c_str()) == 0, "libzmq was built without CURVE");
  return {PublicKey(public_key), std::move(secret_key), ""};
}

namespace {

Result<KeyPair> parse_key_pair(const std::string& path, const std::string& text) {
  char public_key[41] = {}, secret_key[41] = {}, derived[41] = {};
  const int found = std::sscanf(text.c_str(), "public %40s\nsecret %40s", public_key, secret_key);
  const bool valid = found == 2 && is_z85_key(public_key) && is_z85_key(secret_key) &&
                     zmq_curve_public(derived, secret_key) == 0 &&
                     std::strcmp(derived, public_key) == 0;
  if (!valid) {
    return make_error(ErrorCode::corrupt,
                      path +
                          " does not hold a key pair; restore it, or remove it to get a new "
                          "identity");
  }
  return KeyPair{PublicKey(public_key), secret_key, path};
}

}  // namespace

Result<KeyPair> load_or_create_key_pair(const std::string& path) {
  if (!exists(path)) {
    const KeyPair fresh = generate_key_pair();
    const std::string text =
        fmt::format("public {}\nsecret {}\n", fresh.public_key.value, fresh.secret_key);
    const std::string beside = fmt::format("{}.new-{}", path, ::getpid());
    TRY(write_file_atomically(beside, text, 0600));
    // link() instead of rename(): if two programs start at once, both use the keys of the first.
    const bool linked = disk::link(beside.c_str(), path.c_str()) == 0;
    const int error = errno;
    disk::unlink(beside.c_str());
    if (!linked && error != EEXIST) return errno_error(error, "make the key file " + path);
  }
  TRY_ASSIGN(const std::string text, read_file(path, kibibytes(4)));
  return parse_key_pair(path, text);
}

}  // namespace lockstep::io
