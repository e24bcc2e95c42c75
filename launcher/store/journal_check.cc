#include "launcher/store/journal_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/io/durable_copy.h"
#include "common/io/file_system.h"
#include "launcher/store/facts/fact_codec.h"
#include "launcher/store/journal_file.h"
#include "launcher/store/least_facts.h"
#include "launcher/store/wal_check.h"

namespace lockstep::launcher {

namespace {

// Puts SQLite's report in one line: it tells several things at once, below a heading that names the
// only database.
std::string in_one_line(std::string_view text) {
  std::string line;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (part.empty() || part == "*** in database main ***") continue;
    line.append(line.empty() ? "" : "; ").append(part);
  }
  return line;
}

class Problems {
 public:
  explicit Problems(std::vector<std::string>& list) : list_(list) {}
  ~Problems() {
    if (more_ > 0) list_.push_back(fmt::format("and {} more problems", more_));
  }
  // Adds a problem once, however often SQLite meets it.
  void add(std::string problem) {
    if (!said_.insert(problem).second) return;
    if (list_.size() < kMaxJournalProblems)
      list_.push_back(std::move(problem));
    else
      ++more_;
  }

 private:
  std::vector<std::string>& list_;
  std::set<std::string> said_;
  std::uint64_t more_ = 0;
};

// Checks pages, indexes and cell sizes, by SQLite's own check of its file.
void check_pages(Database& db, const std::string& path, Problems& problems) {
  auto rows = db.prepare("PRAGMA integrity_check(20)");
  for (;;) {
    const auto row = rows ? rows->step() : Result<bool>(rows.error());
    if (!row) return problems.add(row.error().message);
    if (!*row) return;
    if (rows->blob(0) != "ok")
      problems.add(fmt::format("journal {}: {}", path, in_one_line(rows->blob(0))));
  }
}

// Whether the row stands behind the one before it; its fact, when it does.
Result<StampedFact> check_row(const Statement& row, std::uint64_t before, const Digest& chain) {
  const auto number = static_cast<std::uint64_t>(row.integer(0));
  if (number != before + 1)
    return make_error(ErrorCode::corrupt,
                      fmt::format("follows row {}: rows are missing between them", before));
  const auto format = row.integer(1);
  if (format < 1 || format > kFactFormat)
    return make_error(ErrorCode::unsupported,
                      fmt::format("has format {}; this program reads {}", format, kFactFormat));
  const auto link = next_link(chain, number, static_cast<int>(format), row.integer(2), row.blob(3));
  if (row.blob(4) != link.view())
    return make_error(ErrorCode::corrupt, "its checksum does not match");
  auto fact = decode_fact(row.blob(3));
  if (!fact) return fact.error().within("cannot be decoded");
  return StampedFact{{row.integer(2)}, std::move(*fact)};
}

Status check_rows(Database& db, const JournalBase& base, Problems& problems, JournalCheck* check) {
  TRY_ASSIGN(auto rows, db.prepare("SELECT sequence, format, stamp, payload, checksum "
                                   "FROM journal ORDER BY sequence"));
  Digest chain = first_link(base);
  std::uint64_t before = 0;
  for (;;) {
    TRY_ASSIGN(const bool row, rows.step());
    if (!row) return {};
    ++check->rows;
    const auto number = static_cast<std::uint64_t>(rows.integer(0));
    auto fact = check_row(rows, before, chain);
    if (!fact) {
      problems.add(fmt::format("journal row {}: {}", number, fact.error().message));
      if (!check->broken) check->broken = number;
    } else if (!check->broken) {
      check->facts.push_back(std::move(*fact));
    }
    before = number;
    // The rows behind a broken row are checked against the checksum that it has.
    if (const auto link = Digest::from_bytes(rows.blob(4))) chain = *link;
  }
}

std::string sign_of(const std::string& path, const JournalTraces& traces, const std::string& sign) {
  return traces.least ? least_facts_file(path) : sign;
}

Result<JournalCheck> check_file(const std::string& path, const JournalTraces& traces,
                                const std::string& sign) {
  TRY_ASSIGN(auto db, Database::open(path));
  TRY_ASSIGN(const auto version, journal_version(db));
  JournalCheck check;
  if (version == 0) {
    check.lost = !sign.empty();
    if (check.lost) check.problems.push_back(lost_journal(path, traces, sign).message);
    return check;
  }
  Problems problems(check.problems);
  check_pages(db, path, problems);
  JournalBase base;
  if (version > 1) {
    TRY_ASSIGN(base, read_base(db));
  }
  // The damage may be such that SQLite cannot read on.
  if (const Status read = check_rows(db, base, problems, &check); !read) {
    // otherwise the problem is reported already
    if (check.problems.empty()) problems.add(read.error().message);
    if (!check.broken) check.broken = check.rows + 1;
  }
  if (const Status all = expect_facts(path, traces, base, check.rows); !check.broken && !all) {
    problems.add(all.error().message);
    check.lost = true;
  }
  return check;
}

// Checks a copy of the journal, since SQLite takes the valid part of a WAL and drops the rest.
Result<JournalCheck> check_copy(const std::string& path, const JournalTraces& traces,
                                const std::string& damage) {
  const std::string copy = path + ".look";
  const auto remove = [&] {
    for (const char* end : {"", "-wal", "-shm"}) (void)io::remove_tree(copy + end);
  };
  remove();
  Status copied;
  for (const char* end : {"", "-wal"})
    if (copied) copied = io::copy_file(path + end, copy + end);
  auto check = copied ? check_file(copy, traces, "") : Result<JournalCheck>(copied.error());
  remove();
  if (!check) return check;
  check->problems.insert(check->problems.begin(), damage);
  if (!check->broken) check->broken = check->rows + 1;
  return check;
}

}  // namespace

Result<JournalCheck> check_journal(const std::string& path, const std::string& sign) {
  if (!io::exists(path)) return make_error(ErrorCode::not_found, path + ": there is no journal");
  TRY_ASSIGN(const JournalTraces traces, look_for_traces(path));
  const Status wal = check_wal(path);
  if (!wal && wal.error().code == ErrorCode::corrupt)
    return check_copy(path, traces, wal.error().message);
  TRY(wal);
  return check_file(path, traces, sign_of(path, traces, sign));
}

Status expect_whole_journal(const std::string& path, const std::string& sign) {
  TRY_ASSIGN(const JournalTraces traces, look_for_traces(path));
  const std::string shows = sign_of(path, traces, sign);
  if (!traces.file && !shows.empty()) return lost_journal(path, traces, shows);
  TRY_ASSIGN(auto db, Database::open(path));
  TRY_ASSIGN(const auto version, journal_version(db));
  if (version == 0) return shows.empty() ? Status() : lost_journal(path, traces, shows);
  JournalBase base;
  if (version > 1) {
    TRY_ASSIGN(base, read_base(db));
  }
  TRY_ASSIGN(const auto rows, db.number("SELECT ifnull(max(sequence), 0) FROM journal"));
  return expect_facts(path, traces, base, static_cast<std::uint64_t>(rows));
}

Result<std::string> truncate_journal(const std::string& path, std::uint64_t sequence) {
  std::string copy = fmt::format("{}.before-{}", path, sequence);
  for (int again = 2; io::exists(copy); ++again)
    copy = fmt::format("{}.before-{}.{}", path, sequence, again);
  for (const char* end : {"", "-wal"})
    if (io::exists(path + end)) TRY(io::copy_file(path + end, copy + end));
  TRY_ASSIGN(auto db, Database::open(path));
  TRY_ASSIGN(const auto version, journal_version(db));
  (void)version;
  TRY(forget_least_facts(path));
  TRY(db.execute(fmt::format("DELETE FROM journal WHERE sequence >= {}", sequence).c_str()));
  return copy;
}

}  // namespace lockstep::launcher
