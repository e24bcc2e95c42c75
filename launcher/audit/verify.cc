#include "launcher/audit/verify.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/io/file_system.h"
#include "launcher/audit/folder.h"
#include "launcher/audit/line.h"

namespace lockstep::launcher {

namespace {

class Verifier {
 public:
  // `expected`: an entry that must exist, and the last one that is checked if `is_live`.
  Verifier(bool is_live, const AuditMark& expected, const AuditMark& mark)
      : is_live_(is_live), expected_(expected), mark_(mark) {}

  // Reads a segment. False: enough was read.
  bool read(const AuditSegment& segment, std::string_view text, bool is_newest);
  AuditVerified finish(const std::string& folder);

 private:
  bool take(const std::string& where, std::string_view line);
  bool fail(std::string problem) {
    found_.problem = std::move(problem);
    return false;
  }
  std::string gap_before(const AuditLink& link) const;

  const bool is_live_;
  const AuditMark expected_, mark_;
  AuditVerified found_;
  std::string first_prev_, first_where_;
  std::vector<AuditMark> removals_;
};

std::string Verifier::gap_before(const AuditLink& link) const {
  const std::uint64_t expected = found_.last.number + 1;
  if (link.number > expected)
    return link.number == expected + 1
               ? fmt::format("entry {} is missing before this one", expected)
               : fmt::format("entries {} to {} are missing before this one", expected,
                             link.number - 1);
  if (link.number < expected)
    return fmt::format("entry {} is not in order: it follows entry {}", link.number,
                       found_.last.number);
  return fmt::format("entry {0} does not match the entry {1} before it: entry {1} was replaced",
                     link.number, found_.last.number);
}

bool Verifier::take(const std::string& where, std::string_view line) {
  const auto link = audit_link(line);
  if (!link) return fail(where + ": this entry was changed: its text does not match its digest");
  if (is_live_ && link->number > expected_.number) return false;
  if (found_.entries == 0) {
    found_.first = link->number;
    first_prev_ = link->prev;
    first_where_ = where;
  } else if (link->number != found_.last.number + 1 || link->prev != found_.last.digest) {
    return fail(where + ": " + gap_before(*link));
  }
  ++found_.entries;
  found_.last = {link->number, std::string(link->digest)};
  for (const AuditMark& known : {expected_, mark_})
    if (link->number == known.number && link->digest != known.digest)
      return fail(fmt::format(
          "{}: entry {} does not have the expected digest (from --mark, or noted by the launcher)",
          where, link->number));
  if (line.find(R"("outcome":"note")") != std::string_view::npos)
    if (const auto entry = audit_entry(line))
      if (const auto removed = removed_by(*entry)) removals_.push_back(*removed);
  return true;
}

bool Verifier::read(const AuditSegment& segment, std::string_view text, bool is_newest) {
  const std::string name = segment.path.substr(segment.path.rfind('/') + 1);
  for (int number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) {
      const std::string unfinished = fmt::format("{}:{}: the last entry is not finished ({} bytes)",
                                                 name, number, text.size());
      if (!is_newest) return fail(unfinished + ", though a later file follows");
      if (!is_live_)
        found_.notes.push_back(unfinished + "; lockstepd removes it at its next start");
      return true;
    }
    if (!take(fmt::format("{}:{}", name, number), text.substr(0, end))) return false;
    text.remove_prefix(end + 1);
  }
  return true;
}

AuditVerified Verifier::finish(const std::string& folder) {
  if (!found_.problem.empty()) return std::move(found_);
  const AuditMark start{found_.first - 1, first_prev_};
  const bool is_start = found_.entries == 0 ||
                        (found_.first == 1 && first_prev_ == kNoAuditDigest) ||
                        std::find(removals_.begin(), removals_.end(), start) != removals_.end();
  if (!is_start)
    fail(fmt::format(
        "{}: entries 1 to {} are missing before this entry, and lockstepd did not remove them",
        first_where_, found_.first - 1));
  if (found_.problem.empty() && found_.last.number < expected_.number)
    fail(fmt::format("{}: entries {} to {} are missing at its end", folder, found_.last.number + 1,
                     expected_.number));
  if (found_.problem.empty() && mark_.number > found_.last.number)
    fail(fmt::format("{}: entry {} (from --mark) is missing at its end", folder, mark_.number));
  if (found_.problem.empty() && mark_.number != 0 && mark_.number < found_.first)
    found_.notes.push_back(
        fmt::format("entry {} (from --mark) is older than the oldest entry that the log still has, "
                    "so it cannot be checked",
                    mark_.number));
  return std::move(found_);
}

}  // namespace

Result<AuditVerified> verify_audit(const std::string& folder, const AuditMark& newest,
                                   const AuditMark& mark) {
  // The head is read first: the entry that it names is on disk by then.
  const auto head = read_audit_head(folder);
  const bool is_live = newest.number != 0;
  for (int tries = 0;; ++tries) {
    Verifier verifier(is_live, is_live ? newest : head.value_or(AuditMark{}), mark);
    TRY_ASSIGN(const auto segments, audit_segments(folder));
    if (segments.empty() && !head)
      return make_error(ErrorCode::not_found,
                        folder +
                            ": there is no audit log; name the home of a launcher of this "
                            "version or later");
    bool goes_on = true, oldest_went = false;
    for (std::size_t i = 0; i < segments.size() && goes_on; ++i) {
      const auto text = io::read_regular_file(segments[i].path, Bytes{2 * kMaxSegmentBytes});
      oldest_went = !text && i == 0 && tries < 3 && !io::exists(segments[i].path);
      if (oldest_went) break;  // the segment was removed meanwhile: start again
      if (!text) return text.error();
      goes_on = verifier.read(segments[i], *text, i + 1 == segments.size());
    }
    if (!oldest_went) return verifier.finish(folder);
  }
}

}  // namespace lockstep::launcher
