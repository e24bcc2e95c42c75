#include "launcher/store/sealed_secrets.h"

#include <fmt/format.h>
#include <sodium.h>
#include <zmq.h>

#include <array>
#include <nlohmann/json.hpp>

namespace lockstep::launcher {

namespace {

using Json = nlohmann::json;
using RawKey = std::array<unsigned char, crypto_box_PUBLICKEYBYTES>;

constexpr std::string_view kHead = "lockstep-secrets 1\n";
constexpr std::size_t kKeyCharacters = 40;
static_assert(crypto_box_PUBLICKEYBYTES == 32 && crypto_box_SECRETKEYBYTES == 32,
              "a CURVE key is a key of crypto_box");

Status start_sodium() {
  if (sodium_init() >= 0) return {};
  return make_error(ErrorCode::internal, "libsodium cannot start");
}

std::optional<RawKey> raw_of(const std::string& z85) {
  RawKey raw{};
  if (z85.size() != kKeyCharacters || zmq_z85_decode(raw.data(), z85.c_str()) == nullptr)
    return std::nullopt;
  return raw;
}

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

template <typename Bytes>
void wipe_bytes(Bytes& bytes) {
  sodium_memzero(bytes.data(), bytes.size());
}

std::vector<std::uint8_t> packed(const std::vector<StoredSecret>& secrets) {
  Json all = Json::array();
  for (const StoredSecret& one : secrets) {
    std::vector<std::uint8_t> value(one.value.begin(), one.value.end());
    all.push_back({{"owner", one.owner},
                   {"name", one.name},
                   {"value", Json::binary(std::move(value))},
                   {"updated", one.updated.ns}});
  }
  return Json::to_cbor(all);
}

std::optional<std::vector<StoredSecret>> unpacked(const std::vector<std::uint8_t>& bytes) {
  const Json all = Json::from_cbor(bytes, true, false);
  if (!all.is_array()) return std::nullopt;
  std::vector<StoredSecret> secrets;
  for (const Json& one : all) {
    if (!one.is_object() || !one.contains("owner") || !one["owner"].is_string() ||
        !one.contains("name") || !one["name"].is_string() || !one.contains("value") ||
        !one["value"].is_binary() || !one.contains("updated") ||
        !one["updated"].is_number_integer())
      return std::nullopt;
    const auto& value = one["value"].get_binary();
    secrets.push_back({one["owner"].get<std::string>(), one["name"].get<std::string>(),
                       std::string(value.begin(), value.end()),
                       Instant{one["updated"].get<std::int64_t>()}});
  }
  return secrets;
}

}  // namespace

Result<std::string> seal_secrets(const std::vector<StoredSecret>& secrets, const PublicKey& to) {
  TRY(start_sodium());
  const auto key = raw_of(to.value);
  if (!key) return make_error(ErrorCode::invalid_argument, "this is not a key to seal secrets to");
  auto clear = packed(secrets);
  std::string box(clear.size() + crypto_box_SEALBYTES, '\0');
  const int done = crypto_box_seal(reinterpret_cast<unsigned char*>(box.data()), clear.data(),
                                   clear.size(), key->data());
  wipe_bytes(clear);
  if (done != 0) return make_error(ErrorCode::internal, "libsodium cannot seal the secrets");
  return std::string(kHead) + to.value + "\n" + box;
}

Result<std::vector<StoredSecret>> unseal_secrets(const std::string& sealed,
                                                 const io::KeyPair& keys) {
  TRY(start_sodium());
  const std::size_t begin = kHead.size() + kKeyCharacters + 1;
  const bool has_form = sealed.starts_with(kHead) &&
                        sealed.size() >= begin + crypto_box_SEALBYTES && sealed[begin - 1] == '\n';
  if (!has_form) return make_error(ErrorCode::corrupt, "these are not sealed secrets");
  const std::string to = sealed.substr(kHead.size(), kKeyCharacters);
  if (to != keys.public_key.value)
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("the secrets are sealed to the key {}, and {} is the key {}", to,
                                  keys.path, keys.public_key.value));
  const auto public_key = raw_of(keys.public_key.value);
  auto secret_key = raw_of(keys.secret_key);
  if (!public_key || !secret_key) return make_error(ErrorCode::corrupt, "this is not a key pair");
  const std::string_view box = std::string_view(sealed).substr(begin);
  std::vector<std::uint8_t> clear(box.size() - crypto_box_SEALBYTES);
  const int done = crypto_box_seal_open(clear.data(), bytes_of(box), box.size(), public_key->data(),
                                        secret_key->data());
  wipe_bytes(*secret_key);
  auto secrets = done == 0 ? unpacked(clear) : std::nullopt;
  wipe_bytes(clear);
  if (!secrets)
    return make_error(ErrorCode::corrupt, "the sealed secrets were changed, or are damaged");
  return *std::move(secrets);
}

void wipe(std::vector<StoredSecret>& secrets) {
  for (StoredSecret& one : secrets) wipe_bytes(one.value);
  secrets.clear();
}

}  // namespace lockstep::launcher
