#include "agent/environment/cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "common/io/cgroups/attempt_cgroups.h"
#include "common/io/disk.h"
#include "common/snapshot/content/disk_usage.h"
#include "envs/order.h"

namespace lockstep::agent {
namespace {

using nlohmann::json;

constexpr std::string_view kSolvePrefix = "solve-";
constexpr std::string_view kScratchPrefix = "work-";
constexpr std::string_view kGonePrefix = "gone-";
constexpr std::string_view kPackages = "packages";
constexpr Bytes kMaxStateBytes = mebibytes(8);

bool all_of_class(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

bool is_entry_name(std::string_view name) {
  if (name.starts_with(kScratchPrefix)) return true;
  if (name.starts_with(kSolvePrefix)) name.remove_prefix(kSolvePrefix.size());
  return name.size() == 64 && all_of_class(name, "0123456789abcdef");
}

// Makes a folder that the user owns, below one that the agent owns.
Status give_folder(const std::string& path, const io::User& user) {
  TRY(io::make_directories(path, 0700));
  const io::Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return errno_error(errno, "cannot open " + path);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return errno_error(errno, "cannot stat " + path);
  const bool is_theirs = info.st_uid == user.uid && info.st_gid == user.gid;
  if (!is_theirs && ::fchown(fd.get(), user.uid, user.gid) != 0)
    return errno_error(errno, "cannot change the owner of " + path);
  if (::fchmod(fd.get(), 0700) != 0) return errno_error(errno, "cannot set the mode of " + path);
  return {};
}

bool touch(const std::string& path) {
  return ::utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW) == 0;
}

std::string text_of(const json& state, const char* key) {
  const auto found = state.find(key);
  return found != state.end() && found->is_string() ? found->get<std::string>() : "";
}

std::int64_t number_of(const json& state, const char* key) {
  const auto found = state.find(key);
  return found != state.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

// An empty object if the file is missing or not valid.
json read_state(const std::string& path) {
  const auto text = io::read_file(path, kMaxStateBytes);
  const json state = text ? json::parse(*text, nullptr, false) : json();
  return state.is_object() ? state : json::object();
}

Status write_state(const std::string& path, const json& state) {
  const std::string text = state.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  return io::write_file_atomically(path, text, 0600, false);
}

ErrorCode code_from(const std::string& word) {
  for (int i = 0; i <= static_cast<int>(kLastErrorCode); ++i)
    if (const auto code = static_cast<ErrorCode>(i); to_string(code) == word) return code;
  return ErrorCode::internal;
}

std::string unique_name(std::string_view prefix) {
  static std::atomic<unsigned> count{0};
  return fmt::format("{}{}-{}", prefix, ::getpid(), ++count);
}

}  // namespace

std::string for_people(Instant time) {
  std::string text = to_string(time).substr(0, 16);
  std::replace(text.begin(), text.end(), 'T', ' ');
  return text + " UTC";
}

// ---- locks --------------------------------------------------------------------------------------

Result<std::optional<EntryLock>> EntryLock::try_acquire(const std::string& path, Kind kind) {
  for (;;) {
    io::Fd fd(io::disk::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd) return errno_error(errno, "cannot open " + path);
    const int how = kind == Kind::exclusive ? LOCK_EX : LOCK_SH;
    if (::flock(fd.get(), how | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK) return std::optional<EntryLock>();
      return errno_error(errno, "cannot lock " + path);
    }
    // A process that removes an entry removes its lock file, too. Another process may already hold
    // the lock of a new file with this name.
    struct stat held {
    }, named{};
    const bool is_the_file = ::fstat(fd.get(), &held) == 0 && ::stat(path.c_str(), &named) == 0 &&
                             held.st_ino == named.st_ino && held.st_dev == named.st_dev;
    if (is_the_file) return std::optional<EntryLock>(EntryLock(std::move(fd)));
  }
}

// ---- entries ------------------------------------------------------------------------------------

std::string EnvironmentCache::owner_of(const io::User& user) const {
  return fmt::format("{}/{}", root_, user.uid);
}

CacheEntry EnvironmentCache::entry(const io::User& user, std::string name) const {
  return {owner_of(user), std::move(name), fmt::format("{}/{}", packages_, user.uid)};
}

CacheEntry EnvironmentCache::built(const io::User& user, const Digest& key) const {
  return entry(user, key.hex());
}

CacheEntry EnvironmentCache::solve(const io::User& user, const Digest& key) const {
  return entry(user, fmt::format("{}{}", kSolvePrefix, key.hex()));
}

CacheEntry EnvironmentCache::scratch(const io::User& user) const {
  return entry(user, unique_name(kScratchPrefix));
}

std::optional<BuiltEnvironment> EnvironmentCache::find(const CacheEntry& entry) {
  const auto text = io::read_file(entry.activation(), kMaxStateBytes);
  auto activation = text ? envs::activation_from_json(*text) : Result<Activation>(Error{});
  if (!activation) return std::nullopt;
  // A venv links to its interpreter, which may have been uninstalled since.
  const std::string& interpreter = activation->interpreter;
  const bool is_of_host = !activation->container && !interpreter.empty();
  if (is_of_host && ::access(interpreter.c_str(), X_OK) != 0) return std::nullopt;
  if (!touch(entry.path())) return std::nullopt;
  const json built = read_state(entry.built());
  return BuiltEnvironment{
      *std::move(activation), {number_of(built, "at_ns")}, text_of(built, "job")};
}

std::optional<RememberedFailure> EnvironmentCache::find_failure(const CacheEntry& entry) {
  const json failure = read_state(entry.failure());
  if (text_of(failure, "message").empty() || !touch(entry.path())) return std::nullopt;
  return RememberedFailure{
      make_error(code_from(text_of(failure, "code")), text_of(failure, "message")),
      {number_of(failure, "at_ns")},
      text_of(failure, "job")};
}

Status EnvironmentCache::open_for(const io::User& user) const {
  TRY(io::make_directories(fmt::format("{}/{}", packages_, user.uid), 0711));
  return io::make_directories(owner_of(user), 0711);
}

Status EnvironmentCache::begin(const CacheEntry& entry, const io::User& user) const {
  TRY(open_for(user));
  TRY(io::clean_cgroups(entry.cgroups()));  // cgroups of an agent that was killed
  TRY(io::remove_tree(entry.path()));
  TRY(io::make_directories(entry.path(), 0711));
  TRY(give_folder(entry.prefix(), user));
  TRY(give_folder(entry.scratch(), user));
  TRY(give_folder(entry.packages(), user));
  static_cast<void>(touch(entry.packages()));
  return {};
}

Status EnvironmentCache::keep(const CacheEntry& entry, const BuiltEnvironment& built) {
  TRY(write_state(entry.built(), {{"at_ns", built.at.ns}, {"job", built.job}}));
  return io::write_file_atomically(entry.activation(), envs::to_json(built.activation), 0600,
                                   false);
}

void EnvironmentCache::measure(const CacheEntry& entry) {
  json built = read_state(entry.built());
  if (!built.is_object() || built.contains("bytes")) return;
  built["bytes"] = snapshot::disk_usage(entry.path()).value_or(0) + image_record_of(entry).bytes;
  static_cast<void>(write_state(entry.built(), built));
}

Status EnvironmentCache::keep_failure(const CacheEntry& entry, const RememberedFailure& failure) {
  return write_state(entry.failure(), {{"code", to_string(failure.error.code)},
                                       {"message", failure.error.message},
                                       {"at_ns", failure.at.ns},
                                       {"job", failure.job}});
}

Status EnvironmentCache::keep_solved(const CacheEntry& entry, std::string_view lock) {
  TRY(io::make_directories(entry.solved_folder(), 0700));
  // The mode is a part of the tree's digest.
  return io::write_file_atomically(fmt::format("{}/{}", entry.solved_folder(), kLockFile), lock,
                                   0644, false);
}

void EnvironmentCache::forget_solved(const CacheEntry& entry) {
  static_cast<void>(io::remove_tree(entry.solved_folder()));
  static_cast<void>(write_state(entry.solved(), json::object()));
}

void EnvironmentCache::drop_scratch(const CacheEntry& entry) {
  for (const std::string& folder :
       {entry.scratch(), entry.context(), entry.image(), entry.wanted(), entry.engine()})
    static_cast<void>(io::remove_tree(folder));
}

Status EnvironmentCache::renew_scratch(const CacheEntry& entry, const io::User& user) {
  TRY(io::make_directories(entry.engine(), 0700));
  return io::exists(entry.scratch()) ? Status() : give_folder(entry.scratch(), user);
}

void EnvironmentCache::drop_archives(const CacheEntry& entry) {
  if (!io::exists(entry.archives())) return;
  const auto alone = EntryLock::try_acquire(entry.packages_lock(), EntryLock::Kind::exclusive);
  if (alone && *alone) static_cast<void>(io::remove_tree(entry.archives()));
}

envs::ImageRecord EnvironmentCache::image_record_of(const CacheEntry& entry) {
  const auto text = io::read_file(entry.image_record(), kMaxStateBytes);
  const auto record =
      text ? envs::image_record_from_json(*text) : Result<envs::ImageRecord>(Error{});
  return record ? *record : envs::ImageRecord{};
}

void EnvironmentCache::drop_prefix(const CacheEntry& entry) {
  static_cast<void>(io::remove_tree(entry.prefix()));
}

void EnvironmentCache::remove_scratch(const CacheEntry& entry) {
  static_cast<void>(io::remove_tree(entry.path()));
  io::disk::unlink(entry.lock_file().c_str());
}

// ---- what there is ------------------------------------------------------------------------------

// The folders below both roots whose names are numbers (user ids).
std::vector<std::string> EnvironmentCache::owners() const {
  std::vector<std::string> folders;
  for (const std::string& root : {root_, packages_}) {
    const auto names = io::list_directory(root).value_or(std::vector<std::string>());
    for (const std::string& name : names)
      if (all_of_class(name, "0123456789")) folders.push_back(root + "/" + name);
    if (packages_ == root_) break;
  }
  return folders;
}

std::optional<Instant> EnvironmentCache::last_used(const CacheEntry& entry) {
  struct stat info {};
  if (::lstat(entry.path().c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return std::nullopt;
  return Instant{info.st_mtim.tv_sec * 1'000'000'000LL + info.st_mtim.tv_nsec};
}

std::vector<EnvironmentCache::Item> EnvironmentCache::list() const {
  std::vector<Item> items;
  for (const std::string& folder : owners()) {
    const auto names = io::list_directory(folder);
    if (!names) continue;
    for (const std::string& name : *names) {
      const bool is_packages = name == kPackages;
      const CacheEntry entry(folder, name);
      if (!is_packages && !is_entry_name(name)) continue;
      const auto used = last_used(entry);
      if (!used) continue;
      Item item{entry, folder, *used};
      item.is_finished = is_packages || io::exists(entry.activation()) ||
                         io::exists(entry.failure()) || io::exists(entry.solved());
      if (!is_packages)
        item.bytes = static_cast<std::uint64_t>(number_of(read_state(entry.built()), "bytes"));
      if (item.bytes == 0) item.bytes = snapshot::disk_usage(entry.path()).value_or(0);
      items.push_back(std::move(item));
    }
  }
  return items;
}

std::vector<CacheEntry> EnvironmentCache::entries() const {
  std::vector<CacheEntry> found;
  const auto none = std::vector<std::string>();
  for (const std::string& owner : io::list_directory(root_).value_or(none)) {
    const std::string folder = root_ + "/" + owner;
    for (const std::string& name : io::list_directory(folder).value_or(none))
      if (is_entry_name(name)) found.emplace_back(folder, name);
  }
  return found;
}

std::vector<envs::ImageRecord> EnvironmentCache::image_records() const {
  std::vector<envs::ImageRecord> records;
  for (const CacheEntry& entry : entries()) {
    auto record = image_record_of(entry);
    if (!record.engine.empty()) records.push_back(std::move(record));
  }
  return records;
}

std::vector<CacheEntry> EnvironmentCache::with_cgroups() const {
  std::vector<CacheEntry> found = entries();
  std::erase_if(found, [](const CacheEntry& entry) { return !io::any_cgroup(entry.cgroups()); });
  return found;
}

Result<bool> EnvironmentCache::remove(const Item& item, const InUse& in_use) const {
  TRY_ASSIGN(const auto lock,
             EntryLock::try_acquire(item.entry.lock_file(), EntryLock::Kind::exclusive));
  if (!lock || in_use(item.entry.name())) return false;
  if (!io::exists(item.entry.path())) {  // another agent that shares the packages was first
    io::disk::unlink(item.entry.lock_file().c_str());
    return false;
  }
  // Cgroups of an agent that was killed while it built.
  TRY(io::clean_cgroups(item.entry.cgroups()));
  TRY_ASSIGN(const std::string aside, put_aside(item));
  // A user of the entry announces itself before it looks for the entry, so one of the two sees the
  // other.
  if (in_use(item.entry.name())) {
    TRY(put_back(item, aside));
    return false;
  }
  TRY(remove_aside(item, aside));
  return true;
}

Result<std::string> EnvironmentCache::put_aside(const Item& item) const {
  std::string aside = fmt::format("{}/{}", item.owner, unique_name(kGonePrefix));
  TRY(io::remove_tree(aside));
  if (io::disk::rename(item.entry.path().c_str(), aside.c_str()) != 0)
    return errno_error(errno, fmt::format("cannot move {} to {}", item.entry.path(), aside));
  return aside;
}

Status EnvironmentCache::put_back(const Item& item, const std::string& aside) {
  if (io::disk::rename(aside.c_str(), item.entry.path().c_str()) != 0)
    return errno_error(errno, fmt::format("cannot move {} to {}", aside, item.entry.path()));
  return {};
}

Status EnvironmentCache::remove_aside(const Item& item, const std::string& aside) {
  TRY(io::remove_tree(aside));
  io::disk::unlink(item.entry.lock_file().c_str());
  return {};
}

void EnvironmentCache::finish_removals() const {
  for (const std::string& folder : owners()) {
    const auto names = io::list_directory(folder);
    if (!names) continue;
    for (const std::string& name : *names)
      if (name.starts_with(kGonePrefix)) static_cast<void>(io::remove_tree(folder + "/" + name));
  }
}

}  // namespace lockstep::agent
