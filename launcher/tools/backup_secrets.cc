#include "launcher/tools/backup_secrets.h"

#include <fmt/format.h>

#include "common/io/file_system.h"
#include "common/io/net/transport.h"
#include "launcher/store/sealed_secrets.h"
#include "launcher/store/secret_store.h"

namespace lockstep::launcher {

namespace {

constexpr std::string_view kPublic = "public ";
constexpr std::size_t kKeyCharacters = 40;
constexpr Bytes kMaxSealed = gibibytes(4);

bool has_secrets(const LauncherHome& home) { return io::exists(home.secrets() + "/secrets.db"); }

}  // namespace

Result<PublicKey> make_backup_key(const std::string& path) {
  TRY_ASSIGN(const io::KeyPair keys, io::load_or_create_key_pair(path));
  TRY(io::write_file_atomically(path + ".pub", std::string(kPublic) + keys.public_key.value + "\n",
                                0644));
  return keys.public_key;
}

Result<PublicKey> read_backup_key(const std::string& path) {
  TRY_ASSIGN(std::string text, io::read_file(path, kibibytes(4)));
  if (text.find("secret ") != std::string::npos)
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("{} is the private key: keep it off this machine, and name the "
                                  "file beside it that ends in .pub",
                                  path));
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (text.starts_with(kPublic) && text.size() == kPublic.size() + kKeyCharacters)
    return PublicKey(text.substr(kPublic.size()));
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("{} has no key for backups; `lockstepd backup-key FILE` makes "
                                "FILE and FILE.pub: name FILE.pub here",
                                path));
}

Result<std::uint64_t> count_secrets(const LauncherHome& home) {
  if (!has_secrets(home)) return std::uint64_t{0};
  TRY_ASSIGN(auto database, Database::open(home.secrets() + "/secrets.db"));
  TRY(database.execute("PRAGMA busy_timeout=5000"));
  TRY_ASSIGN(const std::int64_t rows, database.number("SELECT COUNT(*) FROM secrets"));
  return static_cast<std::uint64_t>(rows);
}

Result<std::uint64_t> save_secrets(const LauncherHome& home, const std::string& key_path,
                                   const std::string& to) {
  TRY_ASSIGN(const PublicKey key, read_backup_key(key_path));
  std::vector<StoredSecret> secrets;
  TRY_ASSIGN(const std::uint64_t there, count_secrets(home));
  if (there > 0) {  // otherwise the launcher may have no key yet
    TRY_ASSIGN(const auto store,
               SecretStore::open(home.secrets(), SecretStore::MissingKey::refuse));
    TRY_ASSIGN(secrets, store->all());
  }
  const std::uint64_t count = secrets.size();
  const auto sealed = seal_secrets(secrets, key);
  wipe(secrets);
  if (!sealed) return sealed.error().within(key_path);
  TRY(io::write_file_atomically(to, *sealed, 0600));
  return count;
}

Result<std::uint64_t> restore_secrets(const std::string& sealed_path, const std::string& key_path,
                                      const LauncherHome& home) {
  if (!io::exists(key_path))
    return make_error(ErrorCode::not_found,
                      fmt::format("--with-secrets: there is no file {}; name the private key that "
                                  "`lockstepd backup-key` made",
                                  key_path));
  TRY_ASSIGN(const io::KeyPair keys, io::load_or_create_key_pair(key_path));
  TRY_ASSIGN(const std::string sealed, io::read_file(sealed_path, kMaxSealed));
  auto secrets = unseal_secrets(sealed, keys);
  if (!secrets) return secrets.error().within(sealed_path);
  TRY_ASSIGN(const auto store, SecretStore::open(home.secrets()));
  Status done;
  for (const StoredSecret& one : *secrets)
    if (done) done = store->set(one.owner, one.name, one.value, one.updated);
  const std::uint64_t count = secrets->size();
  wipe(*secrets);
  TRY(done);
  return count;
}

std::vector<std::string> left_out_of(const LauncherHome& home, std::uint64_t secrets) {
  std::vector<std::string> lines;
  if (secrets > 0)
    lines.push_back(fmt::format(
        "{} secret{} of users: `--with-secrets FILE.pub` saves them, encrypted (`lockstepd "
        "backup-key FILE` makes the key); else their owners set them again",
        secrets, secrets == 1 ? "" : "s"));
  for (const auto& [path, what] :
       {std::pair(home.environments_map(), "the map of environments"),
        std::pair(home.fabric(), "the network settings of jobs"),
        std::pair(home.datastores(), "the datastores, which may hold credentials"),
        std::pair(home.site_providers(), "your own node sources")})
    if (io::exists(path))
      lines.push_back(fmt::format("{} ({}): your own file, so copy it yourself",
                                  path.substr(home.path().size() + 1), what));
  return lines;
}

}  // namespace lockstep::launcher
