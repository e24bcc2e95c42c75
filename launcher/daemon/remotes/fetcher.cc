#include "launcher/daemon/remotes/fetcher.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>

#include "common/base/digest.h"
#include "common/base/quoted_name.h"
#include "common/io/file_system.h"
#include "common/snapshot/capture/capture.h"
#include "common/snapshot/content/compress.h"
#include "common/snapshot/raw_io.h"

namespace lockstep::launcher {
namespace {

constexpr std::size_t kMaxKnownTrees = 10'000;
constexpr Duration kTellEvery = seconds(1);
constexpr std::string_view kUploader = "remote";

FairWorkers::Limits limits_of_fetches() {
  FairWorkers::Limits limits;
  limits.at_once = limits.begun = RemoteFetcher::kAtOnce;
  limits.at_once_of_one = RemoteFetcher::kAtOnceOfUser;
  limits.waiting = {"fetches from datastores waiting", RemoteFetcher::kMaxWaitingOfUser,
                    RemoteFetcher::kMaxWaiting};
  return limits;
}

// The digest covers the remote's name, too: two remotes may have the same listing and different
// files.
std::string digest_of(const RemoteFiles& files, const Listing& listing) {
  std::string text = fmt::format("lockstep remote 1\n{}\n{}\n{}\n{}\n", files.config, files.remote,
                                 files.path, listing.is_file);
  for (const RemoteFile& file : listing.files)
    text += fmt::format("{}\n{}\n{}\n", file.path, file.size, file.version);
  return sha256(text).hex();
}

Status check_space(const std::string& folder, std::uint64_t bytes) {
  struct statvfs info {};
  if (::statvfs(folder.c_str(), &info) != 0) return errno_error(errno, folder);
  const std::uint64_t free = std::uint64_t{info.f_bavail} * info.f_frsize;
  // The files need their space twice: as they arrive, and as blobs.
  if (free / 2 > bytes) return {};
  return make_error(ErrorCode::resource_exhausted,
                    fmt::format("its files have {}, and the launcher's disk has {} free; twice the "
                                "files' size is needed",
                                to_string(Bytes{bytes}), to_string(Bytes{free})));
}

// Checks that the copy has exactly the listed files, with their sizes.
Status check_copied(const snapshot::Snapshot& tree, const Listing& listing) {
  const auto changed = [](const std::string& path) {
    return make_error(ErrorCode::unavailable,
                      quoted_name(path) + " changed while it was fetched; submit again");
  };
  std::map<std::string, std::uint64_t> copied;
  for (const snapshot::FileRecord& file : tree.files) copied[file.path] = file.size;
  for (const RemoteFile& file : listing.files) {
    const auto found = copied.find(file.path);
    if (found == copied.end() || found->second != file.size) return changed(file.path);
    copied.erase(found);
  }
  return copied.empty() && tree.skipped.empty() && tree.symlinks == 0
             ? Status()
             : changed(copied.empty() ? "a file" : copied.begin()->first);
}

Status put_file(const std::string& folder, const snapshot::FileRecord& file,
                snapshot::BlobStore& store) {
  if (store.has(file.digest)) return {};
  const std::string path = folder + "/" + file.path;
  TRY_ASSIGN(const io::Fd fd, io::open_file(path, O_RDONLY | O_NOFOLLOW));
  if (file.size == 0) return store.put(file.digest, "");
  std::string part(kMaxPieceBytes, '\0');
  for (std::uint64_t at = 0; at < file.size; at += kMaxPieceBytes) {
    const auto length = static_cast<std::size_t>(snapshot::piece_length(file.size, at));
    TRY(snapshot::read_exactly_at(fd.get(), at, part.data(), length, path));
    const auto piece = snapshot::make_piece(file.digest, file.size, at, {part.data(), length});
    if (const auto put = store.put_piece(piece, kUploader); !put) return put.error();
  }
  return {};
}

Status put_tree(const std::string& folder, const snapshot::Snapshot& tree,
                snapshot::BlobStore& store) {
  for (const snapshot::FileRecord& file : tree.files) TRY(put_file(folder, file, store));
  for (const snapshot::DirectoryObject& object : tree.directories)
    TRY(store.put(object.digest, object.bytes));
  TRY(store.sync());
  store.lease(tree.root);
  TRY_ASSIGN(const auto missing, store.missing_from(tree.root));
  if (missing.empty()) return {};
  return make_error(ErrorCode::io, "the blob store lost some of its files; submit again");
}

// Removes old records; a tree without one is fetched again.
void keep_few(const std::string& folder) {
  const auto names = io::list_directory(folder);
  if (names && names->size() > kMaxKnownTrees) (void)io::remove_tree(folder);
}

}  // namespace

RemoteFetcher::RemoteFetcher(io::EventLoop& loop, snapshot::BlobStore& blobs, std::string folder,
                             Duration silence)
    : loop_(loop),
      blobs_(blobs),
      folder_(std::move(folder)),
      silence_(silence),
      workers_(limits_of_fetches()) {
  (void)io::remove_tree(folder_ + "/fetching");
  keep_few(folder_ + "/trees");
}

RemoteFetcher::~RemoteFetcher() { stop_ = true; }

void RemoteFetcher::fetch(const std::string& principal, const RemoteFiles& files, Tell tell,
                          Then then) {
  const Key key{files.config, files.remote, files.path};
  auto fetch = fetches_[key];
  const bool is_new = fetch == nullptr;
  if (is_new) {
    fetch = std::make_shared<Fetch>();
    fetch->files = files;
    fetch->state = "waiting for other fetches";
    fetch->number = ++last_number_;
    fetches_[key] = fetch;
  }
  const Status waits = wait_for_turn(principal, fetch);
  if (!waits && is_new) {
    fetches_.erase(key);
    return loop_.post([then = std::move(then), error = waits.error()] { then(error); });
  }
  fetch->tells.push_back(std::move(tell));
  fetch->thens.push_back(std::move(then));
}

// Waits for a turn. A request for files that another request already waits for does not take a turn
// of its own.
Status RemoteFetcher::wait_for_turn(const std::string& principal,
                                    const std::shared_ptr<Fetch>& fetch) {
  if (fetch->has_begun || fetch->principals.count(principal) != 0) return {};
  TRY(workers_.run(principal, [this, fetch](const FairWorkers::Pause&) {
    if (fetch->has_begun.exchange(true)) return;
    auto found = work(*fetch, fetch->number);
    loop_.post([this, fetch, found = std::move(found)] { done(fetch, found); });
  }));
  fetch->principals.insert(principal);
  return {};
}

void RemoteFetcher::done(const std::shared_ptr<Fetch>& fetch,
                         const Result<snapshot::Subtree>& found) {
  const RemoteFiles& files = fetch->files;
  fetches_.erase({files.config, files.remote, files.path});
  if (!found) spdlog::warn("{}: {}", files.shown, found.error().message);
  for (const Then& then : fetch->thens) then(found);
}

void RemoteFetcher::tell_waiting(Instant now) {
  if (fetches_.empty() || now < tell_at_) return;
  tell_at_ = now + kTellEvery;
  for (const auto& [key, fetch] : fetches_) {
    const std::lock_guard guard(fetch->mutex);
    const std::string text = fmt::format("{}: {}", fetch->files.shown, fetch->state);
    for (const Tell& tell : fetch->tells) tell(text);
  }
}

Duration RemoteFetcher::wait(Instant now) const {
  if (fetches_.empty()) return Duration::max();
  return std::max(Duration(0), tell_at_ - now);
}

void RemoteFetcher::set_state(Fetch& fetch, std::string state) const {
  const std::lock_guard guard(fetch.mutex);
  fetch.state = std::move(state);
}

Result<snapshot::Subtree> RemoteFetcher::work(Fetch& fetch, int number) {
  if (stop_) return make_error(ErrorCode::unavailable, "the launcher is ending");
  const std::string below = fmt::format("{}/fetching/{}", folder_, number);
  TRY(io::make_directories(below + "/home", 0700));
  TRY(io::make_directories(folder_ + "/trees", 0700));
  const RcloneContext context{below + "/home", silence_, &stop_, {}};
  set_state(fetch, "listing");
  auto found = [&]() -> Result<snapshot::Subtree> {
    TRY_ASSIGN(const Listing listing, list_remote(fetch.files, context));
    return fetch_listing(fetch, listing, below, context);
  }();
  (void)io::remove_tree(below);
  return found;
}

Result<snapshot::Subtree> RemoteFetcher::fetch_listing(Fetch& fetch, const Listing& listing,
                                                       const std::string& below,
                                                       const RcloneContext& context) {
  const std::string file = listing.is_file ? listing.files.front().path : "";
  const std::string known = folder_ + "/trees/" + digest_of(fetch.files, listing);
  if (const auto root = known_tree(known)) return snapshot::Subtree{*root, file};
  TRY(check_space(folder_, listing.bytes));
  const std::string to = below + "/files";
  TRY(io::make_directories(to, 0700));
  const std::string whole = to_string(Bytes{listing.bytes});
  TRY(copy_remote(fetch.files, listing, to, context, [&](std::uint64_t bytes) {
    set_state(fetch, fmt::format("fetching {} of {}", to_string(Bytes{bytes}), whole));
  }));
  set_state(fetch, fmt::format("storing {}", whole));
  snapshot::CaptureOptions options;
  options.allow_home_or_root = true;
  options.is_source = false;
  TRY_ASSIGN(const snapshot::Snapshot tree, snapshot::capture(to, options));
  TRY(check_copied(tree, listing));
  TRY(put_tree(to, tree, blobs_));
  TRY(io::write_file_atomically(known, tree.root.hex() + "\n", 0600));
  return snapshot::Subtree{tree.root, file};
}

// The tree of files that were fetched before, only while the blob store has all of it.
std::optional<Digest> RemoteFetcher::known_tree(const std::string& path) {
  const auto text = io::read_file(path, kibibytes(1));
  if (!text) return std::nullopt;
  const auto root = Digest::from_hex(text->substr(0, text->find('\n')));
  if (!root) return std::nullopt;
  blobs_.lease(*root);
  const auto missing = blobs_.missing_from(*root);
  return missing && missing->empty() ? std::optional(*root) : std::nullopt;
}

}  // namespace lockstep::launcher
