#include "launcher/tools/backup.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/io/clock.h"
#include "common/io/disk.h"
#include "common/io/durable_copy.h"
#include "common/io/version_file.h"
#include "common/snapshot/content/blob_gc.h"
#include "common/snapshot/content/blob_store.h"
#include "launcher/home/home_lock.h"
#include "launcher/home/layout.h"
#include "launcher/logs/log_store.h"
#include "launcher/sqlite/database_files.h"
#include "launcher/state/roots.h"
#include "launcher/state/state.h"
#include "launcher/store/journal.h"
#include "launcher/store/journal_check.h"
#include "launcher/tools/backup_secrets.h"

namespace lockstep::launcher {

namespace {

std::string about(const std::string& backup) { return backup + "/backup.json"; }
std::string sealed_secrets(const std::string& backup) { return backup + "/secrets.sealed"; }

// A directory that is made under another name and renamed when it is complete.
class Beside {
 public:
  static Result<Beside> begin(const std::string& path) {
    TRY(io::make_directories(path.substr(0, path.rfind('/') == 0 ? 1 : path.rfind('/'))));
    if (io::exists(path)) {
      TRY_ASSIGN(const auto names, io::list_directory(path));
      if (!names.empty())
        return make_error(ErrorCode::already_exists,
                          fmt::format("{} is not empty (it has {}); name a directory that does not "
                                      "exist, or is empty",
                                      path, names.front()));
    }
    Beside beside(path);
    TRY(io::remove_tree(beside.path()));
    TRY(io::make_directories(beside.path(), 0700));
    return beside;
  }
  Beside(Beside&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  Beside& operator=(Beside&&) = delete;
  ~Beside() {
    if (!path_.empty()) (void)io::remove_tree(path());
  }
  std::string path() const { return path_ + ".partial"; }
  Status finish() {
    TRY(io::sync_directory(path()));
    if (io::disk::rename(path().c_str(), path_.c_str()) != 0)
      return errno_error(errno, fmt::format("cannot move {} to {}", path(), path_));
    const std::string parent = path_.substr(0, std::max<std::size_t>(path_.rfind('/'), 1));
    path_.clear();
    return io::sync_directory(parent);
  }

 private:
  explicit Beside(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

using Copy = Status (*)(const std::string& from, const std::string& to);
Status copy_whole(const std::string& from, const std::string& to) {
  return io::copy_file(from, to);
}

// Copies the regular files of a directory, which may not exist.
Status copy_directory(const std::string& from, const std::string& to, Copy copy,
                      std::uint64_t* count = nullptr) {
  if (!io::exists(from)) return {};
  TRY(io::make_directories(to, 0700));
  TRY_ASSIGN(const auto names, io::list_directory(from));
  for (const auto& name : names) {
    struct stat info {};
    if (::lstat((from + "/" + name).c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    TRY(copy(from + "/" + name, to + "/" + name));
    if (count != nullptr) ++*count;
  }
  return io::sync_directory(to);
}

// Packs grow, so they are copied. The file of a large blob never changes, so it is linked.
Status copy_blobs(const std::string& from, const std::string& to) {
  TRY(io::make_directories(to, 0700));
  if (!io::exists(from)) return {};
  TRY(copy_directory(from + "/packs", to + "/packs", copy_whole));
  TRY_ASSIGN(const auto folders, io::list_directory(from));
  for (const auto& folder : folders)
    if (folder.size() == 2)
      TRY(copy_directory(from + "/" + folder, to + "/" + folder, io::link_or_copy));
  return io::sync_directory(to);
}

Status copy_logs(const State& state, const LauncherHome& from, const LauncherHome& to,
                 BackupReport* report) {
  const LogStore source(from.logs()), target(to.logs());
  TRY(io::make_directories(to.logs(), 0700));
  for (const auto& [id, job] : state.jobs())
    for (const Attempt& attempt : job.attempts)
      TRY(copy_directory(source.directory(attempt.id), target.directory(attempt.id), copy_whole,
                         &report->logs));
  return {};
}

// The head is copied first: the entry that it names is in the segments by then, even if the
// launcher continues.
Status copy_audit(const LauncherHome& from, const LauncherHome& to) {
  if (!io::exists(from.audit())) return {};
  TRY(io::make_directories(to.audit(), 0700));
  const std::string head = audit_head_path(from.audit());
  if (io::exists(head)) TRY(io::copy_file(head, audit_head_path(to.audit())));
  TRY_ASSIGN(const auto segments, audit_segments(from.audit()));
  for (const auto& segment : segments) {
    const Status copied =
        io::copy_file(segment.path, audit_segment_path(to.audit(), segment.number));
    // Otherwise it was the oldest, and was removed.
    if (!copied && io::exists(segment.path)) return copied;
  }
  return io::sync_directory(to.audit());
}

// One that is damaged is left out: the restored launcher begins a new one.
Status copy_store(const std::string& from, const std::string& to) {
  if (!io::exists(from)) return {};
  const Status copied = copy_journal(from, to);
  if (copied || copied.error().code != ErrorCode::corrupt) return copied;
  return remove_database(to);
}

// Copies the state of providers: the host keys that were seen at the first attach.
Status copy_provider_state(const State& state, const LauncherHome& from, const LauncherHome& to) {
  for (const auto& [target, compute] : state.computes().all())
    TRY(copy_directory(from.compute_state(target), to.compute_state(target), copy_whole));
  return {};
}

Status copy_identity(const LauncherHome& from, const LauncherHome& to) {
  TRY(copy_directory(from.keys(), to.keys(), copy_whole));
  for (const auto& [source, target] :
       {std::pair(from.endpoint(), to.endpoint()), std::pair(from.started(), to.started())})
    if (io::exists(source)) TRY(io::copy_file(source, target));
  return io::write_version(to.version(), kHomeVersion);
}

Result<State> read_state(const std::string& journal_path, std::uint64_t* facts) {
  TRY_ASSIGN(auto journal, Journal::open(journal_path));
  State state;
  TRY(journal.replay([&](const StampedFact& fact) { state.apply(fact.at, fact.fact); }));
  *facts = journal.last_sequence();
  return state;
}

// Checks that everything which the copy refers to is in it, and removes other blobs.
Status settle_blobs(const State& state, const std::string& path, BackupReport* report) {
  TRY_ASSIGN(const auto store, snapshot::BlobStore::open(path));
  std::vector<Digest> trees;
  Status looked;
  each_root(state, [&](const Root& root) {
    trees.push_back(root.tree);
    if (!looked) return;
    const auto missing = store->missing_from(root.tree);
    if (!missing) looked = missing.error();
    if (missing && !missing->empty())
      report->problems.push_back(fmt::format("{}: {} blobs are missing, the first is {}",
                                             describe(root), missing->size(),
                                             missing->front().hex()));
  });
  TRY(looked);
  snapshot::BlobCollection collection(*store, Duration(0));
  TRY(collection.mark(trees));
  TRY_ASSIGN(const std::size_t condemned, collection.condemn());
  (void)condemned;
  TRY(collection.sweep());
  TRY_ASSIGN(const auto left, store->list());
  report->blobs = left.size();
  return store->sync();
}

Status write_about(const std::string& path, const BackupReport& report) {
  const nlohmann::json json = {
      {"lockstep", LOCKSTEP_VERSION}, {"home", report.from}, {"taken", to_string(report.taken)},
      {"facts", report.facts},        {"jobs", report.jobs}, {"secrets", report.secrets},
      {"left_out", report.left_out}};
  const auto replace = nlohmann::json::error_handler_t::replace;
  return io::write_file_atomically(path, json.dump(2, ' ', false, replace) + "\n", 0600);
}

Status take_secrets(const LauncherHome& home, const std::string& key_path, const std::string& to,
                    BackupReport* report) {
  if (!key_path.empty()) {
    TRY_ASSIGN(report->secrets, save_secrets(home, key_path, sealed_secrets(to)));
  }
  TRY_ASSIGN(const std::uint64_t all, count_secrets(home));
  report->left_out = left_out_of(home, key_path.empty() ? all : 0);
  return {};
}

// The backup lists what it left out; a restore reports that.
Status give_secrets(const std::string& from, const std::string& key_path, const LauncherHome& home,
                    BackupReport* report) {
  TRY_ASSIGN(const std::string text, io::read_file(about(from), mebibytes(1)));
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_object() && json.contains("left_out") && json["left_out"].is_array())
    for (const auto& line : json["left_out"])
      if (line.is_string()) report->left_out.push_back(line.get<std::string>());
  const bool has_secrets = io::exists(sealed_secrets(from));
  if (json.is_object() && !json.contains("left_out"))
    report->left_out.push_back(
        "secrets of users, if it had any: a backup of this version of "
        "lockstepd has none");
  if (!key_path.empty() && !has_secrets)
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("--with-secrets: {} has no secrets; restore it without that flag", from));
  if (!has_secrets) return {};
  if (key_path.empty()) {
    report->left_out.push_back(
        "the secrets of users that the backup has: restore it with `--with-secrets FILE`, the "
        "private key; else their owners set them again");
    return {};
  }
  TRY_ASSIGN(report->secrets, restore_secrets(sealed_secrets(from), key_path, home));
  return {};
}

// Replaces the former home in the record of how the launcher was started.
Status adapt_start_record(const std::string& path, const std::string& home) {
  if (!io::exists(path)) return {};
  TRY_ASSIGN(const std::string text, io::read_file(path, mebibytes(1)));
  auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json["command"].is_array()) return {};
  auto& words = json["command"];
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].is_string()) continue;
    const auto word = words[i].get<std::string>();
    if (word == "--home" && i + 1 < words.size()) words[i + 1] = home;
    if (word.rfind("--home=", 0) == 0) words[i] = "--home=" + home;
  }
  return io::write_file_atomically(path, json.dump(2) + "\n", 0600);
}

}  // namespace

Result<BackupReport> backup(const std::string& home_path, const std::string& to,
                            const std::string& key_path) {
  const LauncherHome home(home_path);
  TRY(expect_home(home));
  if (to == home_path || to.rfind(home_path + "/", 0) == 0)
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("{} is inside the home to back up; name a directory outside of the home", to));
  if (!key_path.empty()) {
    TRY_ASSIGN(const PublicKey key, read_backup_key(key_path));  // read before anything is copied
    (void)key;
  }
  TRY_ASSIGN(auto beside, Beside::begin(to));
  const LauncherHome copy(beside.path());
  BackupReport report{home_path, to, io::SystemClock().now(), 0, 0, 0, 0, {}};
  // While this lock is held, nothing is removed that the journal's copy refers to.
  std::optional<io::SharedLock> lock;
  if (io::exists(home.stores_lock())) {  // without it, no launcher of this version used the home
    TRY_ASSIGN(lock, io::SharedLock::acquire(home.stores_lock()));
  }
  TRY(expect_whole_journal(home.journal(), sign_of_life(home)));
  // Before the journal: an archive that knows more than its journal has to be made anew.
  TRY(copy_store(home.archive(), copy.archive()));
  TRY(copy_journal(home.journal(), copy.journal()));
  TRY_ASSIGN(const State state, read_state(copy.journal(), &report.facts));
  report.jobs = state.jobs().size();
  TRY(copy_identity(home, copy));
  TRY(copy_blobs(home.blobs(), copy.blobs()));
  TRY(settle_blobs(state, copy.blobs(), &report));
  TRY(copy_logs(state, home, copy, &report));
  TRY(copy_store(home.metrics(), copy.metrics()));
  TRY(copy_audit(home, copy));
  TRY(copy_provider_state(state, home, copy));
  TRY(take_secrets(home, key_path, beside.path(), &report));
  TRY(write_about(about(beside.path()), report));
  TRY(beside.finish());
  return report;
}

Result<BackupReport> restore(const std::string& from, const std::string& home_path,
                             const std::string& key_path) {
  const LauncherHome source(from);
  if (!io::exists(about(from)))
    return make_error(ErrorCode::not_found,
                      fmt::format("{} is not a complete backup: it has no backup.json", from));
  TRY(expect_home(source));
  TRY_ASSIGN(auto beside, Beside::begin(home_path));
  const LauncherHome home(beside.path());
  BackupReport report{from, home_path, io::SystemClock().now(), 0, 0, 0, 0, {}};
  TRY(copy_store(source.archive(), home.archive()));
  TRY(copy_journal(source.journal(), home.journal()));
  TRY_ASSIGN(const State state, read_state(home.journal(), &report.facts));
  report.jobs = state.jobs().size();
  {
    TRY_ASSIGN(auto journal, Journal::open(home.journal()));
    Instant last;
    TRY(journal.replay([&](const StampedFact& fact) { last = std::max(last, fact.at); }));
    const Instant now = std::max(last, report.taken);
    const auto incarnation = static_cast<std::uint64_t>(now.ns / 1'000'000);
    TRY(journal.append(
        {{now, IncarnationBegan{std::max(incarnation, state.incarnation() + 1), true}}}));
  }
  TRY(copy_identity(source, home));
  TRY(adapt_start_record(home.started(), home_path));
  TRY(copy_blobs(source.blobs(), home.blobs()));
  TRY(settle_blobs(state, home.blobs(), &report));
  TRY(copy_logs(state, source, home, &report));
  TRY(copy_store(source.metrics(), home.metrics()));
  TRY(copy_audit(source, home));
  TRY(copy_provider_state(state, source, home));
  TRY(give_secrets(from, key_path, home, &report));
  TRY(beside.finish());
  return report;
}

}  // namespace lockstep::launcher
