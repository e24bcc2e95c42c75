#include "launcher/audit/log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/io/disk.h"
#include "common/io/durable_copy.h"
#include "launcher/audit/line.h"

namespace lockstep::launcher {

namespace {

constexpr Bytes kLargestSegment = mebibytes(16);
constexpr Bytes kSmallestSegment = kibibytes(64);
constexpr std::uint64_t kSegmentsWanted = 64;
constexpr std::size_t kLargestLine = 32u << 10;

AuditMark no_entry() { return {0, kNoAuditDigest}; }

// The newest whole entry of a segment. Number 0: it has none.
AuditMark newest_in(std::string_view text) {
  while (!text.empty()) {
    text.remove_suffix(1);                    // without its newline
    const auto begin = text.rfind('\n') + 1;  // npos + 1 is 0
    if (const auto link = audit_link(text.substr(begin)))
      return {link->number, std::string(link->digest)};
    text = text.substr(0, begin);
  }
  return no_entry();
}

bool ends_whole(std::string_view text) {
  if (text.empty()) return true;
  text.remove_suffix(1);
  return audit_link(text.substr(text.rfind('\n') + 1)).has_value();
}

// The newest entry of the segment before the one at `path`. Number 0: it cannot be read.
AuditMark last_before(const std::string& path) {
  auto file = io::open_file(path, O_RDONLY);
  if (!file) return no_entry();
  std::string text(kLargestLine, '\0');
  const ssize_t got = ::pread(file->get(), text.data(), text.size(), 0);
  if (got <= 0) return no_entry();
  text.resize(static_cast<std::size_t>(got));
  const auto link = audit_link(std::string_view(text).substr(0, text.find('\n')));
  if (!link || link->number == 0) return no_entry();
  return {link->number - 1, std::string(link->prev)};
}

}  // namespace

AuditLimits audit_limits(Bytes in_all) {
  AuditLimits limits;
  limits.segment.count =
      std::clamp(in_all.count / kSegmentsWanted, kSmallestSegment.count, kLargestSegment.count);
  limits.segments = std::max<std::size_t>(2, in_all.count / limits.segment.count);
  return limits;
}

Status AuditSync::run() const {
  for (const auto& file : files_)
    if (io::disk::fdatasync(file->get()) != 0)
      return errno_error(errno, "cannot sync the audit log in " + folder_);
  if (is_new_segment_) TRY(io::sync_directory(folder_));
  TRY(write_audit_head(folder_, head_));
  for (const auto& path : remove_)
    if (io::disk::unlink(path.c_str()) != 0 && errno != ENOENT)
      return errno_error(errno, "cannot remove " + path);
  return {};
}

Result<AuditLog> AuditLog::open(const std::string& folder, AuditLimits limits, Instant now) {
  AuditLog log(folder, limits);
  TRY(log.take_up(now));
  log.remove_oldest(now);
  return log;
}

void AuditLog::record(const std::string& what, const std::string& object, const std::string& detail,
                      Instant now) {
  AuditEntry entry;
  entry.at = now;
  entry.who = "lockstepd";
  entry.what = what;
  entry.object = object;
  entry.detail = detail;
  add(std::move(entry));
}

// Opens the newest segment and finds the newest entry. False: no more may be written to it.
Result<bool> AuditLog::take_up_segments(const std::vector<AuditSegment>& segments,
                                        std::vector<Note>& notes) {
  bool goes_on = true;
  segment_ = segments.back().number;
  const std::string& path = segments.back().path;
  TRY_ASSIGN(std::string text, io::read_regular_file(path, Bytes{2 * kMaxSegmentBytes}));
  TRY_ASSIGN(auto file, io::open_file(path, O_WRONLY | O_APPEND));
  const std::size_t whole = text.rfind('\n') + 1;
  if (whole != text.size()) {
    if (io::disk::ftruncate(file.get(), static_cast<off_t>(whole)) != 0)
      return errno_error(errno, "cannot remove the incomplete last entry from " + path);
    notes.push_back({"fix the log", path,
                     fmt::format("the last entry was not complete when the launcher stopped; its "
                                 "{} bytes were removed",
                                 text.size() - whole)});
    text.resize(whole);
  }
  if (!ends_whole(text)) {
    notes.push_back({"find damage", path,
                     "the last entry was changed or damaged; the log continues in a new file"});
    goes_on = false;
  }
  last_ = newest_in(text);
  for (std::size_t i = segments.size() - 1; last_.number == 0 && i > 0; --i) {
    TRY_ASSIGN(const std::string older,
               io::read_regular_file(segments[i - 1].path, Bytes{2 * kMaxSegmentBytes}));
    last_ = newest_in(older.substr(0, older.rfind('\n') + 1));
  }
  file_ = std::make_shared<io::Fd>(std::move(file));
  size_ = text.size();
  is_dirty_ = true;  // an earlier process may have ended before its sync
  return goes_on;
}

Status AuditLog::take_up(Instant now) {
  TRY_ASSIGN(const auto segments, audit_segments(folder_));
  const auto head = read_audit_head(folder_);
  last_ = no_entry();
  bool goes_on = !segments.empty();  // whether the newest segment can be continued
  std::vector<Note> notes;
  if (goes_on) {
    TRY_ASSIGN(goes_on, take_up_segments(segments, notes));
  }
  if (head && head->number > last_.number) {
    notes.push_back({"find damage", folder_,
                     fmt::format("entries {} to {} were on disk but are missing now; the log "
                                 "continues after them in a new file",
                                 last_.number + 1, head->number)});
    last_ = *head;
    goes_on = false;
  }
  written_ = last_;
  if (!goes_on) {
    // On a full disk the segment is made when there is space, as for all later entries.
    const Status begun = begin_segment();
    if (!begun && begun.error().code != ErrorCode::resource_exhausted) return begun;
    if (!begun) file_.reset();
  }
  for (const auto& [what, object, detail] : notes) {
    findings_.push_back(object + ": " + detail);
    record(what, object, detail, now);
  }
  return {};
}

Status AuditLog::begin_segment() {
  if (!io::exists(folder_)) TRY(io::make_directories(folder_, 0700));
  const std::string path = audit_segment_path(folder_, segment_ + 1);
  TRY_ASSIGN(auto file, io::open_file(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL, 0600));
  if (file_) ended_.push_back(std::move(file_));
  file_ = std::make_shared<io::Fd>(std::move(file));
  ++segment_;
  size_ = 0;
  torn_ = false;
  is_new_segment_ = is_dirty_ = true;
  return {};
}

void AuditLog::add(AuditEntry entry) {
  entry.number = last_.number + 1;
  AuditLine line = audit_line(entry, last_.digest);
  last_ = {entry.number, line.digest};
  waiting_.push_back({std::move(line.text) + "\n", last_});
}

// Writes all entries that fit with one call.
Status AuditLog::write(Instant now) {
  while (!waiting_.empty()) {
    for (; !torn_files_.empty(); torn_files_.pop_back())
      if (io::disk::ftruncate(torn_files_.back().first->get(),
                              static_cast<off_t>(torn_files_.back().second)) != 0)
        return errno_error(errno, "cannot repair the audit log in " + folder_);
    if (torn_ && io::disk::ftruncate(file_->get(), static_cast<off_t>(size_)) != 0)
      return errno_error(errno, "cannot repair the audit log in " + folder_);
    torn_ = false;
    if (!file_ || size_ >= limits_.segment.count) TRY(rotate(now));
    std::string text;
    std::size_t count = 0;
    while (count < waiting_.size() && (count == 0 || size_ + text.size() < limits_.segment.count))
      text += waiting_[count++].text;
    if (const auto done = io::write_all(file_->get(), text); !done) {
      torn_ = true;
      return done.error().within("the audit log in " + folder_);
    }
    size_ += text.size();
    is_dirty_ = true;
    written_ = waiting_[count - 1].mark;
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return {};
}

Status AuditLog::rotate(Instant now) {
  TRY(begin_segment());
  remove_oldest(now);
  return {};
}

// Removes the oldest segment, after take_sync() has made a note of that durable.
void AuditLog::remove_oldest(Instant now) {
  auto segments = audit_segments(folder_);
  if (!segments) return;
  const auto is_going = [&](const AuditSegment& segment) {
    return std::find(remove_.begin(), remove_.end(), segment.path) != remove_.end();
  };
  std::erase_if(*segments, is_going);
  for (std::size_t i = 0; segments->size() - i > limits_.segments; ++i) {
    AuditEntry entry = removal_note(last_before((*segments)[i + 1].path));
    entry.at = now;
    add(std::move(entry));
    remove_.push_back((*segments)[i].path);
  }
}

std::optional<AuditSync> AuditLog::take_sync() {
  const bool may_remove = waiting_.empty() && !remove_.empty();
  if (!is_dirty_ && !may_remove) return std::nullopt;
  AuditSync sync;
  sync.folder_ = folder_;
  sync.files_ = std::exchange(ended_, {});
  if (file_) sync.files_.push_back(file_);
  sync.is_new_segment_ = std::exchange(is_new_segment_, false);
  sync.head_ = written_;
  if (may_remove) sync.remove_ = std::exchange(remove_, {});
  is_dirty_ = false;
  return sync;
}

void AuditLog::sync_failed(const std::string& why, Instant now) {
  record("fail to sync", folder_,
         why + "; entries written since the last sync may be lost in a power failure", now);
  if (torn_) torn_files_.push_back({std::move(file_), size_});
  file_.reset();
  ended_.clear();
  torn_ = is_dirty_ = false;
  // If no new file can be made either, the next write reports that.
  (void)begin_segment();
}

}  // namespace lockstep::launcher
