#include "common/snapshot/live/live_capture.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "common/snapshot/capture/entry_io.h"
#include "common/snapshot/capture/scan.h"
#include "common/snapshot/live/pieces.h"
#include "common/snapshot/manifest.h"

namespace lockstep::snapshot {
namespace {

constexpr Duration kLeftOutFor = minutes(1);

// Whether a file is at rest. The file system's clock may be behind ours, which makes a growing file
// look old. So its age counts only if no look has seen it change.
bool is_at_rest(const FileIdentity& file, bool has_changed, Duration unchanged_for,
                const LiveClock& now) {
  const std::int64_t age = now.wall_ns - file.ctime_ns;
  return unchanged_for >= kFileAtRest || (!has_changed && age >= kFileAtRest.count());
}

// The number of bytes of the file that must be read, given the bytes of `before`.
std::uint64_t cost_of(const FileIdentity& file, const FileVersion* before, Rest rest) {
  if (before == nullptr || before->identity.inode != file.inode ||
      before->identity.device != file.device || before->identity.size > file.size)
    return file.size;
  if (rest == Rest::at_rest && file.size > kReadAgain) return file.size;
  return file.size - before->identity.size;
}

bool is_one_blob(const FileVersion& version) { return version.pieces.size() <= 1; }

Digest blob_of(const FileVersion& version) {
  return version.pieces.empty() ? sha256("") : version.pieces.front().digest;
}

}  // namespace

void LiveCapture::sent() {
  kept_ = captured_;
  shape_ = captured_shape_;
  for (const std::string& path : read_) watched_[path].differs_since.reset();
}

void LiveCapture::not_sent(bool changed) {
  if (!changed) return;
  for (const std::string& path : not_held_) watched_[path].left_out_until = now_ + kLeftOutFor;
}

Version LiveCapture::renamed(const FileIdentity& identity) {
  if (by_inode_.empty())
    for (const auto& [path, kept] : kept_)
      for (const Version& version : {kept.whole, kept.partial})
        if (version) by_inode_[{version->identity.device, version->identity.inode}] = version;
  const auto found = by_inode_.find({identity.device, identity.inode});
  return found == by_inode_.end() ? nullptr : found->second;
}

LiveCapture::Watched& LiveCapture::watch(const std::string& path, const FileIdentity& identity,
                                         const LiveClock& now) {
  const auto [at, is_new] = watched_.try_emplace(path);
  Watched& watched = at->second;
  if (watched.seen == identity) return watched;
  watched.seen = identity;
  watched.since = now.steady;
  // A file that moved with its folder is unchanged.
  const Version other = is_new && has_looked_ ? renamed(identity) : nullptr;
  const bool has_moved = other != nullptr && other->identity == identity;
  watched.has_changed = !is_new || (has_looked_ && !has_moved);
  return watched;
}

// The part of the file that must be read now, if any.
std::optional<LiveCapture::Work> LiveCapture::judge(const std::string& path,
                                                    const FileIdentity& identity,
                                                    const LiveClock& now) {
  const auto known = kept_.find(path);
  const Kept kept = known == kept_.end() ? Kept() : known->second;
  Watched& watched = watch(path, identity, now);
  if (kept.whole && kept.whole->identity == identity) {
    watched.differs_since.reset();
    return std::nullopt;
  }
  if (!watched.differs_since) watched.differs_since = now.steady;
  Work work;
  work.path = path;
  work.identity = identity;
  const bool rests = is_at_rest(identity, watched.has_changed, now.steady - watched.since, now);
  work.rest = rests ? Rest::at_rest : Rest::written;
  const bool is_new = !kept.whole && !kept.partial;
  const Duration every = is_new ? kFileAtRest : kGrowingEvery;
  work.is_due = rests || now.steady - *watched.differs_since >= every;
  const bool may_be_read = rests || now.steady >= watched.left_out_until;
  if (!may_be_read || (!work.is_due && !is_new)) return std::nullopt;
  if (!rests && kept.partial && kept.partial->identity == identity) return std::nullopt;
  work.before = kept.partial ? kept.partial : kept.whole;
  if (!work.before || work.before->identity.inode != identity.inode)
    if (Version other = renamed(identity)) work.before = std::move(other);
  work.cost = cost_of(identity, work.before.get(), work.rest);
  if (!work.is_due && work.cost > kAlwaysRead) return std::nullopt;
  return work;
}

// Finds the files to read. Also begins the next state with the files that exist and were sent.
std::vector<LiveCapture::Work> LiveCapture::look(const Scan& scan, const LiveClock& now) {
  std::vector<Work> work;
  std::map<std::string, Watched> before = std::exchange(watched_, {});
  captured_.clear();
  by_inode_.clear();
  read_.clear();
  not_held_.clear();
  for (const ScannedFolder& folder : scan.folders)
    for (const ScannedFile& file : folder.files) {
      const std::string path = folder.path + file.name;
      if (auto node = before.extract(path)) watched_.insert(std::move(node));
      if (auto one = judge(path, file.identity, now)) work.push_back(*std::move(one));
      if (const auto kept = kept_.find(path); kept != kept_.end()) captured_.insert(*kept);
    }
  // A new file that is still being written is sent with the others, so that the first list has it.
  const auto is_due = [](const Work& one) { return one.is_due; };
  if (std::none_of(work.begin(), work.end(), is_due)) work.clear();
  std::stable_sort(work.begin(), work.end(),
                   [](const Work& a, const Work& b) { return a.cost < b.cost; });
  return work;
}

// A digest of folders and links, and of which files exist.
Digest LiveCapture::shape_of(const Scan& scan) const {
  Sha256 hash;
  const auto add = [&](const std::string& text) { hash.update(text + '\0'); };
  for (const ScannedFolder& folder : scan.folders) {
    add(fmt::format("{} {} {}", folder.path, folder.mode, folder.opaque));
    for (const ScannedLink& link : folder.links) add(link.name + " -> " + link.target);
    for (const std::string& gone : folder.whiteouts) add("gone " + gone);
  }
  for (const auto& [path, kept] : captured_) add(path);
  return hash.finish();
}

bool LiveCapture::may_read(const Work& work, std::uint64_t already) const {
  if (already != 0 && already + work.cost > kReadAtOnce.count) return false;
  return work.cost <= kAlwaysRead || allowance_ > 0;
}

// Reads the files of `work` into `out`. False: no file could be read.
bool LiveCapture::read(const Scan& scan, std::vector<Work> work, LiveTree& out) {
  std::uint64_t already = 0, held = 0;
  bool any = false;
  for (const Work& one : work) {
    if (!may_read(one, already)) break;
    const io::Fd fd =
        open_entry(scan.root.get(), one.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (!fd) continue;  // the file was removed, or is another kind of entry now
    const std::uint64_t may_hold = one.rest == Rest::written ? kHeldBytes - held : 0;
    auto result = read_version(fd.get(), one.before.get(), one.rest, may_hold);
    already += one.cost;
    allowance_ -= static_cast<std::int64_t>(one.cost);
    if (!result) continue;
    // The file was written to since it was examined, so its current version is not at rest.
    const bool is_torn = one.rest == Rest::at_rest && result->version->identity != one.identity;
    if (is_torn) continue;
    any = true;
    Kept& kept = captured_[one.path];
    if (one.rest == Rest::at_rest) {
      kept.whole = std::move(result->version);
      kept.partial.reset();
    } else {
      kept.partial = std::move(result->version);
    }
    read_.push_back(one.path);
    if (one.rest == Rest::written && !result->is_held) not_held_.push_back(one.path);
    for (DirectoryObject& blob : result->held) {
      held += blob.bytes.size();
      out.tree.directories.push_back(std::move(blob));
    }
  }
  return any;
}

namespace {

// Splits a capture into the entries of the tree and files in pieces.
class Builder {
 public:
  explicit Builder(Scan& scan) : scan_(scan), digests_(scan.folders.size()) {}

  // Adds a file. `is_new`: it was read in this capture.
  void add_file(std::size_t folder, ScannedFile file, const FileVersion* whole,
                const FileVersion* partial, bool is_new);
  std::vector<ScannedFile> take_files(std::size_t folder) { return std::move(files_[folder]); }
  void finish();

  std::vector<FileRecord> records;
  std::vector<PiecedFile> pieced;
  std::uint64_t files = 0, partial = 0, bytes = 0;
  bool has_empty = false;  // whether there is a piece without bytes
  const std::vector<std::vector<Digest>>& digests() const { return digests_; }

 private:
  void add_pieces(const std::string& path, const FileVersion& version, bool is_partial);
  void list(const std::string& path, const FileVersion& version);

  Scan& scan_;
  std::map<std::size_t, std::vector<ScannedFile>> files_;
  std::vector<std::vector<Digest>> digests_;
};

// Lists a file's pieces. A file that is unchanged since it was read can be sent again if the
// receiver has lost it.
void Builder::list(const std::string& path, const FileVersion& version) {
  if (version.pieces.empty()) records.push_back({path, sha256(""), 0, {}, 0});
  for (const Piece& piece : version.pieces)
    records.push_back({path, piece.digest, piece.size, {}, piece.offset});
}

void Builder::add_pieces(const std::string& path, const FileVersion& version, bool is_partial) {
  if (pieced.size() == kMaxPiecedFiles || path.size() > kMaxTargetBytes) {
    scan_.skipped.push_back({path, "", 0, "too many files grow at once; it is sent at the end"});
    return;
  }
  pieced.push_back({path, version.mode, is_partial, version.pieces});
  has_empty = has_empty || version.pieces.empty();
  ++files;
  partial += is_partial ? 1 : 0;
  bytes += version.identity.size;
}

void Builder::add_file(std::size_t folder, ScannedFile file, const FileVersion* whole,
                       const FileVersion* partial_version, bool is_new) {
  const std::string path = scan_.folders[folder].path + file.name;
  if (partial_version != nullptr) {
    if (is_new || partial_version->identity == file.identity) list(path, *partial_version);
    add_pieces(path, *partial_version, true);
  }
  if (whole == nullptr) return;
  const bool was_read = is_new && partial_version == nullptr;
  if (was_read || whole->identity == file.identity) list(path, *whole);
  if (!is_one_blob(*whole)) return add_pieces(path, *whole, false);
  file.mode = whole->mode;
  file.identity = whole->identity;
  digests_[folder].push_back(blob_of(*whole));
  files_[folder].push_back(std::move(file));
  ++files;
  bytes += whole->identity.size;
}

void Builder::finish() {
  for (std::size_t i = 0; i < scan_.folders.size(); ++i) scan_.folders[i].files = take_files(i);
}

}  // namespace

Result<LiveTree> LiveCapture::build(Scan scan, const std::string& shown_as,
                                    const TreeOptions& options, LiveTree out) {
  Builder builder(scan);
  const std::set<std::string> read(read_.begin(), read_.end());
  for (std::size_t i = 0; i < scan.folders.size(); ++i)
    for (ScannedFile& file : std::exchange(scan.folders[i].files, {})) {
      const std::string path = scan.folders[i].path + file.name;
      const auto found = captured_.find(path);
      if (found == captured_.end()) continue;
      builder.add_file(i, std::move(file), found->second.whole.get(), found->second.partial.get(),
                       read.count(path) != 0);
    }
  builder.finish();
  std::vector<DirectoryObject> held = std::move(out.tree.directories);
  TRY_ASSIGN(out.tree, assemble(scan, builder.digests(), shown_as, options.lower));
  std::move(held.begin(), held.end(), std::back_inserter(out.tree.directories));
  if (builder.has_empty) out.tree.directories.push_back({sha256(""), ""});
  if (!builder.pieced.empty()) {
    std::vector<DirectoryObject> list = encode(builder.pieced);
    out.pieces = list.back().digest;
    std::move(list.begin(), list.end(), std::back_inserter(out.tree.directories));
  }
  out.tree.files = std::move(builder.records);
  out.files = builder.files + out.tree.lower_files;
  out.partial = builder.partial;
  out.size.count = builder.bytes + out.tree.lower_total.count;
  std::move(scan.skipped.begin(), scan.skipped.end(), std::back_inserter(out.tree.skipped));
  out.tree.opened = std::make_shared<io::Fd>(std::move(scan.root));
  return out;
}

Result<std::optional<LiveTree>> LiveCapture::capture(io::Fd folder, const std::string& shown_as,
                                                     const TreeOptions& options,
                                                     const LiveClock& now) {
  ScanOptions scanning;
  scanning.is_source = false;
  scanning.is_upper = options.is_upper;
  TRY_ASSIGN(Scan scan, snapshot::scan(std::move(folder), shown_as, scanning));
  now_ = now.steady;
  const auto passed = static_cast<double>(
      std::clamp<Duration>(now.steady - refilled_, Duration::zero(), minutes(10)).count());
  refilled_ = now.steady;
  allowance_ = std::min<std::int64_t>(
      static_cast<std::int64_t>(kMostAhead.count),
      allowance_ + static_cast<std::int64_t>(passed / 1e9 * static_cast<double>(kBytesASecond)));
  std::vector<Work> work = look(scan, now);
  has_looked_ = true;
  LiveTree out;
  const bool has_news = !work.empty() && read(scan, std::move(work), out);
  captured_shape_ = shape_of(scan);
  if (!has_news && captured_shape_ == shape_) return std::optional<LiveTree>();
  TRY_ASSIGN(out, build(std::move(scan), shown_as, options, std::move(out)));
  const bool is_empty = out.files == 0 && out.tree.symlinks == 0 && out.tree.folders == 0;
  if (is_empty && shape_ == Digest()) return std::optional<LiveTree>();
  return std::optional<LiveTree>(std::move(out));
}

Result<std::vector<TornFile>> LiveCapture::torn(io::Fd folder, const std::string& shown_as,
                                                bool is_upper,
                                                const std::vector<Instant>& killed) const {
  ScanOptions scanning;
  scanning.is_source = false;
  scanning.is_upper = is_upper;
  TRY_ASSIGN(const Scan scan, snapshot::scan(std::move(folder), shown_as, scanning));
  std::vector<TornFile> torn;
  for (const ScannedFolder& inside : scan.folders)
    for (const ScannedFile& file : inside.files) {
      const std::string path = inside.path + file.name;
      const auto kept = kept_.find(path);
      const Version whole = kept == kept_.end() ? nullptr : kept->second.whole;
      const bool is_same_file = whole && whole->identity.device == file.identity.device &&
                                whole->identity.inode == file.identity.inode;
      if (whole && (!is_same_file || whole->identity == file.identity)) continue;
      if (torn.size() == kMaxPiecedFiles / 2 || path.size() > kMaxTargetBytes) continue;
      if (!was_cut_off(file.identity.ctime_ns, killed)) continue;
      if (!whole) {
        torn.push_back({path, nullptr});
        continue;
      }
      const io::Fd fd =
          open_entry(scan.root.get(), path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
      if (fd && !is_continued(fd.get(), file.identity, *whole)) torn.push_back({path, whole});
    }
  return torn;
}

}  // namespace lockstep::snapshot
