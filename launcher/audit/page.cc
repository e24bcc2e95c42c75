#include "launcher/audit/page.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "common/io/file_system.h"
#include "launcher/audit/folder.h"
#include "launcher/audit/line.h"

namespace lockstep::launcher {

namespace {

constexpr int kSegmentsInAPage = 2;  // the most segments that one answer reads
constexpr std::size_t kPageBytes = 1u << 20;

std::uint64_t number_of(std::string_view line) {
  const auto link = audit_link(line);
  return link ? link->number : 0;
}

// The number of the first entry; 0: none can be read.
std::uint64_t first_number(const std::string& path) {
  auto file = io::open_file(path, O_RDONLY);
  if (!file) return 0;
  std::string text(32u << 10, '\0');
  const ssize_t got = ::pread(file->get(), text.data(), text.size(), 0);
  if (got <= 0) return 0;
  text.resize(static_cast<std::size_t>(got));
  return number_of(std::string_view(text).substr(0, text.find('\n')));
}

// Whether `user` has the name: for "ann", the users "ann" and "ann~2".
bool is_called(std::string_view user, std::string_view name) {
  if (!user.starts_with(name)) return false;
  const std::string_view rest = user.substr(name.size());
  if (rest.empty()) return true;
  return rest.size() > 1 && rest[0] == '~' && rest.find_first_not_of("0123456789", 1) == rest.npos;
}

class Page {
 public:
  explicit Page(const QueryAudit& query) : query_(query) {
    most_ = query.limit == 0 ? kMaxAuditEntriesInReply
                             : std::min<std::size_t>(query.limit, kMaxAuditEntriesInReply);
  }
  // Takes entries from the end; false: the page is full, or all further entries are too old.
  bool take(std::string_view text) {
    while (!text.empty()) {
      text.remove_suffix(1);
      const auto begin = text.rfind('\n') + 1;
      if (!take_line(text.substr(begin))) return false;
      text = text.substr(0, begin);
    }
    return true;
  }
  AuditReply finish(bool is_more) {
    std::reverse(reply_.entries.begin(), reply_.entries.end());
    reply_.before = is_more && oldest_ > 1 ? oldest_ : 0;
    return std::move(reply_);
  }
  bool is_over() const { return is_over_; }

 private:
  bool take_line(std::string_view line) {
    const auto entry = audit_entry(line);
    if (!entry) return true;  // damaged: `audit verify` reports it
    if (query_.before != 0 && entry->number >= query_.before) return true;
    if (reply_.entries.size() >= most_ || bytes_ > kPageBytes) return false;
    oldest_ = entry->number;
    if (entry->at < query_.since) {
      is_over_ = true;
      return false;
    }
    if (!is_wanted(*entry, query_)) return true;
    bytes_ += line.size();
    reply_.entries.push_back(*entry);
    return true;
  }

  const QueryAudit& query_;
  std::size_t most_ = 0, bytes_ = 0;
  std::uint64_t oldest_ = 0;  // number of the oldest entry that was read
  bool is_over_ = false;
  AuditReply reply_;
};

}  // namespace

std::string user_in(const AuditEntry& entry, std::string_view name) {
  constexpr std::string_view kUser = "user ";
  const std::string who = entry.who.substr(0, entry.who.find(" (attempt "));
  if (is_called(who, name)) return who;
  if (!entry.object.starts_with(kUser)) return "";
  std::string about = entry.object.substr(kUser.size());
  return is_called(about, name) ? about : "";
}

bool is_wanted(const AuditEntry& entry, const QueryAudit& query) {
  const bool of_user = query.user.empty() || !user_in(entry, query.user).empty();
  const std::string node = "node " + query.node;
  const bool of_project = query.project.empty() || entry.project == query.project ||
                          entry.object == "project " + query.project;
  if (!of_project || !has_verb(entry, query.verb) || !has_object(entry, query.object)) return false;
  return of_user && (query.node.empty() || entry.who == node || entry.object == node);
}

Result<AuditReply> audit_page(const std::string& folder, const QueryAudit& query) {
  TRY_ASSIGN(auto segments, audit_segments(folder));
  // Drops segments whose entries were all shown before.
  while (query.before != 0 && segments.size() > 1 &&
         first_number(segments.back().path) >= query.before)
    segments.pop_back();
  Page page(query);
  bool is_full = false;
  int read = 0;
  while (!segments.empty() && !is_full && read++ < kSegmentsInAPage) {
    const auto text = io::read_regular_file(segments.back().path, Bytes{2 * kMaxSegmentBytes});
    if (!text && io::exists(segments.back().path)) return text.error();
    // The launcher may be writing: an incomplete entry is left for the next time.
    if (text) is_full = !page.take(std::string_view(*text).substr(0, text->rfind('\n') + 1));
    segments.pop_back();
  }
  return page.finish((is_full || !segments.empty()) && !page.is_over());
}

}  // namespace lockstep::launcher
