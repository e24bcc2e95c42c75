#include "launcher/store/secret_store.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include "common/io/file_system.h"

namespace lockstep::launcher {

namespace {

// AES-256-GCM. A nonce of 96 random bits is drawn for each change; collisions become likely after
// 2^32 of them with one key.
constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kTagBytes = 16;
constexpr const char* kTable =
    "CREATE TABLE IF NOT EXISTS secrets("
    "owner TEXT NOT NULL, name TEXT NOT NULL, sealed BLOB NOT NULL, bytes INTEGER NOT NULL, "
    "updated INTEGER NOT NULL, PRIMARY KEY(owner, name)) WITHOUT ROWID";

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

struct FreeCipher {
  void operator()(EVP_CIPHER_CTX* cipher) const { EVP_CIPHER_CTX_free(cipher); }
};
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, FreeCipher>;

Result<std::string> random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  if (RAND_bytes(bytes_of(bytes), static_cast<int>(count)) == 1) return bytes;
  return make_error(ErrorCode::internal,
                    "OpenSSL returned no random bytes for a secret or its key");
}

// The place to which a text is bound. Owner and name have no NUL.
std::string place_of(const std::string& owner, const std::string& name) {
  return owner + '\0' + name;
}

// Returns nonce, text and tag.
Result<std::string> encrypt(const std::string& key, const std::string& place,
                            const std::string& value) {
  TRY_ASSIGN(const std::string nonce, random_bytes(kNonceBytes));
  const Cipher cipher(EVP_CIPHER_CTX_new());
  std::string text(value.size(), '\0'), tag(kTagBytes, '\0');
  int length = 0;
  const bool good =
      cipher &&
      EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, bytes_of(key),
                         bytes_of(nonce)) == 1 &&
      EVP_EncryptUpdate(cipher.get(), nullptr, &length, bytes_of(place),
                        static_cast<int>(place.size())) == 1 &&
      EVP_EncryptUpdate(cipher.get(), bytes_of(text), &length, bytes_of(value),
                        static_cast<int>(value.size())) == 1 &&
      EVP_EncryptFinal_ex(cipher.get(), nullptr, &length) == 1 &&
      EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes, tag.data()) == 1;
  if (!good) return make_error(ErrorCode::internal, "OpenSSL cannot encrypt");
  return nonce + text + tag;
}

// nullopt: the text was not encrypted with this key for this place.
std::optional<std::string> decrypted(const std::string& key, const std::string& place,
                                     std::string_view sealed) {
  if (sealed.size() < kNonceBytes + kTagBytes) return std::nullopt;
  const std::string_view nonce = sealed.substr(0, kNonceBytes);
  const std::string_view text = sealed.substr(kNonceBytes, sealed.size() - kNonceBytes - kTagBytes);
  std::string tag(sealed.substr(sealed.size() - kTagBytes));
  std::string value(text.size(), '\0');
  const Cipher cipher(EVP_CIPHER_CTX_new());
  int length = 0;
  const bool good =
      cipher &&
      EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, bytes_of(key),
                         bytes_of(nonce)) == 1 &&
      EVP_DecryptUpdate(cipher.get(), nullptr, &length, bytes_of(place),
                        static_cast<int>(place.size())) == 1 &&
      EVP_DecryptUpdate(cipher.get(), bytes_of(value), &length, bytes_of(text),
                        static_cast<int>(text.size())) == 1 &&
      EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, tag.data()) == 1 &&
      EVP_DecryptFinal_ex(cipher.get(), nullptr, &length) == 1;
  if (!good) return std::nullopt;
  return value;
}

Result<std::string> load_key(const std::string& path, bool may_make) {
  if (const auto key = io::read_file(path)) {
    if (key->size() == kKeyBytes) return *key;
    return make_error(ErrorCode::corrupt,
                      fmt::format("{}: has {} bytes, but a key has {}; restore the key file that "
                                  "the secrets in the same folder were encrypted with",
                                  path, key->size(), kKeyBytes));
  } else if (key.error().code != ErrorCode::not_found) {
    return key.error();
  }
  if (!may_make)
    return make_error(ErrorCode::corrupt,
                      fmt::format("{}: is missing, and without this key the secrets in the same "
                                  "folder cannot be read; restore the key file, or remove the "
                                  "folder and ask the users to set their secrets again",
                                  path));
  TRY_ASSIGN(std::string key, random_bytes(kKeyBytes));
  TRY(io::write_file_atomically(path, key, 0600));
  return key;
}

}  // namespace

Result<std::unique_ptr<SecretStore>> SecretStore::open(const std::string& folder,
                                                       MissingKey missing) {
  TRY(io::make_directories(folder, 0700));
  TRY_ASSIGN(Database database, Database::open(folder + "/secrets.db"));
  // Overwritten and removed values are not left in free pages.
  TRY(database.execute("PRAGMA secure_delete=ON"));
  TRY(database.execute("PRAGMA synchronous=FULL"));
  // A backup reads them for a moment.
  TRY(database.execute("PRAGMA busy_timeout=2000"));
  TRY(database.execute(kTable));
  TRY_ASSIGN(const std::int64_t rows, database.number("SELECT COUNT(*) FROM secrets"));
  const std::string key_path = folder + "/key";
  const bool may_make = missing == MissingKey::create && rows == 0;
  TRY_ASSIGN(std::string key, load_key(key_path, may_make));
  return std::unique_ptr<SecretStore>(
      new SecretStore(std::move(database), key_path, std::move(key)));
}

SecretStore::SecretStore(Database database, std::string key_path, std::string key)
    : database_(std::move(database)), key_path_(std::move(key_path)), key_(std::move(key)) {}

SecretStore::~SecretStore() { OPENSSL_cleanse(key_.data(), key_.size()); }

Status SecretStore::expect_room(const std::string& owner, const std::string& name,
                                std::size_t bytes) {
  TRY_ASSIGN(auto sum, database_.prepare("SELECT COUNT(*), COALESCE(SUM(bytes), 0) FROM secrets "
                                         "WHERE owner = ?1 AND name != ?2"));
  sum.bind_text(1, owner);
  sum.bind_text(2, name);
  TRY(sum.step());
  if (sum.integer(0) >= static_cast<std::int64_t>(kMaxSecretsPerUser))
    return make_error(ErrorCode::resource_exhausted,
                      fmt::format("user '{}' already has {} secrets, the maximum for a user; "
                                  "remove one with `lockstep secret remove`",
                                  owner, sum.integer(0)));
  if (static_cast<std::size_t>(sum.integer(1)) + bytes > kMaxSecretBytesPerUser)
    return make_error(
        ErrorCode::resource_exhausted,
        fmt::format("with this secret, the secrets of user '{}' would have {} bytes together, but "
                    "the maximum is {}; remove one with `lockstep secret remove`",
                    owner, static_cast<std::size_t>(sum.integer(1)) + bytes,
                    kMaxSecretBytesPerUser));
  return {};
}

Status SecretStore::set(const std::string& owner, const std::string& name, const std::string& value,
                        Instant now) {
  TRY(validate_secret_name(name));
  TRY(validate_secret_value(value));
  TRY(expect_room(owner, name, value.size()));
  TRY_ASSIGN(const std::string sealed, encrypt(key_, place_of(owner, name), value));
  TRY_ASSIGN(auto insert, database_.prepare("INSERT OR REPLACE INTO secrets VALUES(?,?,?,?,?)"));
  insert.bind_text(1, owner);
  insert.bind_text(2, name);
  insert.bind_blob(3, sealed);
  insert.bind(4, static_cast<std::int64_t>(value.size()));
  insert.bind(5, now.ns);
  TRY(insert.step());
  return {};
}

Status SecretStore::remove(const std::string& owner, const std::string& name) {
  TRY_ASSIGN(const bool known, has(owner, name));
  if (!known)
    return make_error(
        ErrorCode::not_found,
        fmt::format("user '{}' has no secret '{}'; `lockstep secret list` shows all", owner, name));
  TRY_ASSIGN(auto erase, database_.prepare("DELETE FROM secrets WHERE owner = ? AND name = ?"));
  erase.bind_text(1, owner);
  erase.bind_text(2, name);
  TRY(erase.step());
  return {};
}

Status SecretStore::keep_only(const std::set<std::string>& owners) {
  std::set<std::string> gone;
  {
    TRY_ASSIGN(auto all, database_.prepare("SELECT DISTINCT owner FROM secrets"));
    for (;;) {
      TRY_ASSIGN(const bool row, all.step());
      if (!row) break;
      if (std::string owner(all.blob(0)); owners.count(owner) == 0) gone.insert(std::move(owner));
    }
  }
  for (const std::string& owner : gone) {
    TRY_ASSIGN(auto erase, database_.prepare("DELETE FROM secrets WHERE owner = ?"));
    erase.bind_text(1, owner);
    TRY(erase.step());
  }
  return {};
}

Result<std::vector<SecretView>> SecretStore::list(const std::string& owner) {
  TRY_ASSIGN(auto rows,
             database_.prepare("SELECT name, updated FROM secrets WHERE owner = ? ORDER BY name"));
  rows.bind_text(1, owner);
  std::vector<SecretView> secrets;
  for (;;) {
    TRY_ASSIGN(const bool row, rows.step());
    if (!row) return secrets;
    secrets.push_back({std::string(rows.blob(0)), Instant{rows.integer(1)}});
  }
}

Result<bool> SecretStore::has(const std::string& owner, const std::string& name) {
  TRY_ASSIGN(auto row, database_.prepare("SELECT 1 FROM secrets WHERE owner = ? AND name = ?"));
  row.bind_text(1, owner);
  row.bind_text(2, name);
  return row.step();
}

Result<std::vector<StoredSecret>> SecretStore::all() {
  TRY_ASSIGN(auto rows,
             database_.prepare("SELECT owner, name, sealed, updated FROM secrets ORDER BY 1, 2"));
  std::vector<StoredSecret> secrets;
  for (;;) {
    TRY_ASSIGN(const bool row, rows.step());
    if (!row) return secrets;
    StoredSecret one{std::string(rows.blob(0)), std::string(rows.blob(1)), "",
                     Instant{rows.integer(3)}};
    TRY_ASSIGN(one.value, decrypt(one.owner, one.name, rows.blob(2)));
    secrets.push_back(std::move(one));
  }
}

Result<SecretValues> SecretStore::values(const std::string& owner,
                                         const std::set<std::string>& names) {
  SecretValues values;
  TRY_ASSIGN(auto row,
             database_.prepare("SELECT sealed FROM secrets WHERE owner = ? AND name = ?"));
  for (const std::string& name : names) {
    row.reset();
    row.bind_text(1, owner);
    row.bind_text(2, name);
    TRY_ASSIGN(const bool there, row.step());
    if (!there) continue;
    TRY_ASSIGN(values[name], decrypt(owner, name, row.blob(0)));
  }
  return values;
}

Result<std::string> SecretStore::decrypt(const std::string& owner, const std::string& name,
                                         std::string_view sealed) const {
  if (auto value = decrypted(key_, place_of(owner, name), sealed)) return *std::move(value);
  return make_error(
      ErrorCode::corrupt,
      fmt::format("{}: the secret '{}' of user '{}' cannot be decrypted with {}; restore the key "
                  "file that the secret was encrypted with, or set the secret again",
                  database_.path(), name, owner, key_path_));
}

}  // namespace lockstep::launcher
