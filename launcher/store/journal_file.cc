#include "launcher/store/journal_file.h"

#include <fmt/format.h>

#include <cstdlib>

#include "launcher/store/facts/fact_codec.h"
#include "launcher/store/journal_place.h"

namespace lockstep::launcher {

namespace {

constexpr std::int64_t kApplicationId = 0x4c4b5331;  // "LKS1": tells a journal from other databases

constexpr const char* kCreateBase =
    "CREATE TABLE base (generation INTEGER NOT NULL, facts INTEGER NOT NULL,"
    " head BLOB NOT NULL, kept INTEGER NOT NULL) STRICT;";

void append_little_endian(std::uint64_t value, int bytes, std::string* out) {
  for (int i = 0; i < bytes; ++i) *out += static_cast<char>(value >> (8 * i) & 0xff);
}

}  // namespace

Result<std::int64_t> journal_version(Database& db) {
  TRY_ASSIGN(const auto application, db.number("PRAGMA application_id"));
  TRY_ASSIGN(const auto version, db.number("PRAGMA user_version"));
  TRY_ASSIGN(const auto tables, db.number("SELECT count(*) FROM sqlite_master"));
  if (application == 0 && version == 0 && tables == 0) return 0;
  if (application != kApplicationId || version < 1)
    return make_error(ErrorCode::corrupt,
                      db.path() + ": is a database, but not a journal of Lockstep");
  if (version > kJournalVersion)
    return make_error(ErrorCode::unsupported,
                      fmt::format("{}: was written by a newer Lockstep (journal version {}, this "
                                  "program, " LOCKSTEP_VERSION ", reads up to {}); start that "
                                  "version",
                                  db.path(), version, kJournalVersion));
  return version;
}

Status create_journal(Database& db) {
  const std::string sql = fmt::format(
      "BEGIN IMMEDIATE;"
      "CREATE TABLE journal (sequence INTEGER PRIMARY KEY, format INTEGER NOT NULL,"
      " stamp INTEGER NOT NULL, payload BLOB NOT NULL, checksum BLOB NOT NULL) STRICT;"
      "{} PRAGMA application_id = {}; PRAGMA user_version = {}; COMMIT;",
      kCreateBase, kApplicationId, kJournalVersion);
  return db.execute(sql.c_str());
}

Status migrate_journal(Database& db, std::int64_t version) {
  if (version == kJournalVersion) return {};
  const std::string sql = fmt::format("BEGIN IMMEDIATE; {} PRAGMA user_version = {}; COMMIT;",
                                      kCreateBase, kJournalVersion);
  return db.execute(sql.c_str());
}

Result<JournalBase> read_base(Database& db) {
  JournalBase base;
  TRY_ASSIGN(auto rows, db.prepare("SELECT generation, facts, head, kept FROM base"));
  TRY_ASSIGN(const bool row, rows.step());
  if (!row) return base;
  base.generation = static_cast<std::uint64_t>(rows.integer(0));
  base.facts = static_cast<std::uint64_t>(rows.integer(1));
  const auto head = rows.blob(2);
  base.kept = static_cast<std::uint64_t>(rows.integer(3));
  if (head.size() != base.head.bytes.size())
    return make_error(
        ErrorCode::corrupt,
        fmt::format("journal {}: its base row is damaged; restore the file from a backup",
                    db.path()));
  std::copy(head.begin(), head.end(), base.head.bytes.begin());
  return base;
}

Status write_base(Database& db, const JournalBase& base) {
  TRY_ASSIGN(auto insert, db.prepare("INSERT INTO base VALUES (?1, ?2, ?3, ?4)"));
  insert.bind(1, static_cast<std::int64_t>(base.generation));
  insert.bind(2, static_cast<std::int64_t>(base.facts));
  insert.bind_blob(3, base.head.view());
  insert.bind(4, static_cast<std::int64_t>(base.kept));
  auto done = insert.step();
  if (!done) return std::move(done).error();
  return {};
}

Digest first_link(const JournalBase& base) {
  if (base.generation == 0) return {};
  std::string text = "base";
  append_little_endian(base.generation, 8, &text);
  append_little_endian(base.facts, 8, &text);
  text += base.head.view();
  return sha256(text);
}

Digest next_link(const Digest& previous, std::uint64_t sequence, int format, std::int64_t stamp,
                 std::string_view payload) {
  std::string head(previous.view());
  append_little_endian(sequence, 8, &head);
  append_little_endian(static_cast<std::uint64_t>(format), 4, &head);
  append_little_endian(static_cast<std::uint64_t>(stamp), 8, &head);
  Sha256 hash;
  hash.update(head);
  hash.update(payload);
  return hash.finish();
}

// ---- reading ------------------------------------------------------------------------------------

Result<JournalReader> JournalReader::begin(Database& db, const JournalBase& base) {
  TRY_ASSIGN(auto rows, db.prepare("SELECT sequence, format, stamp, payload, checksum "
                                   "FROM journal ORDER BY sequence"));
  return JournalReader(std::move(rows), db.path(), first_link(base));
}

Error JournalReader::bad_row(ErrorCode code, std::uint64_t number, const std::string& why) const {
  const auto place = place_of_row(path_, number);
  const std::string where = place ? fmt::format(" (byte {} of the file)", *place) : "";
  return make_error(code, fmt::format("journal {}: row {}{}: {}", path_, number, where, why));
}

Status JournalReader::check_pages(Database& db) const {
  TRY_ASSIGN(auto rows, db.prepare("PRAGMA quick_check(1)"));
  const auto row = rows.step();
  const std::string found = !row ? row.error().message : *row ? std::string(rows.blob(0)) : "ok";
  if (found == "ok") return {};
  const auto at = found.find("age ");  // "Page 7: …", "On page 7 at right child: …"
  const auto page = at == found.npos ? 0 : std::strtoull(found.c_str() + at + 4, nullptr, 10);
  const auto place = place_of_page(path_, page);
  return make_error(
      ErrorCode::corrupt,
      fmt::format(
          "journal {}: the rows up to row {} are intact, but the file is damaged{}, and later rows "
          "may be missing: {}; `lockstepd fsck` shows what is left; restore the file from a backup",
          path_, sequence_, place ? fmt::format(" at byte {}", *place) : "", found));
}

Result<bool> JournalReader::next(StampedFact* fact) {
  const auto row = rows_.step();
  if (!row)
    return bad_row(row.error().code, sequence_ + 1,
                   row.error().message + "; `lockstepd fsck` shows what is left");
  if (!*row) return false;
  const auto number = static_cast<std::uint64_t>(rows_.integer(0));
  if (number != sequence_ + 1)
    return bad_row(ErrorCode::corrupt, number,
                   fmt::format("follows row {}: rows are missing; `lockstepd fsck` shows what is "
                               "left; restore the file from a backup",
                               sequence_));
  const auto format = rows_.integer(1);
  if (format < 1 || format > kFactFormat)
    return bad_row(ErrorCode::unsupported, number,
                   fmt::format("has format {}, and this program reads up to {}; start the version "
                               "that wrote it",
                               format, kFactFormat));
  const Instant stamp{rows_.integer(2)};
  const auto payload = rows_.blob(3);
  const auto expected = next_link(chain_, number, static_cast<int>(format), stamp.ns, payload);
  if (rows_.blob(4) != expected.view())
    return bad_row(ErrorCode::corrupt, number,
                   "the checksum does not match: the row or the one before it was changed; "
                   "`lockstepd fsck` shows what is left; restore the file from a backup");
  auto decoded = decode_fact(payload);
  if (!decoded) return bad_row(decoded.error().code, number, decoded.error().message);
  *fact = StampedFact{stamp, std::move(*decoded)};
  chain_ = expected;
  sequence_ = number;
  return true;
}

// ---- writing ------------------------------------------------------------------------------------

Result<JournalWriter> JournalWriter::prepare(Database& db) {
  TRY_ASSIGN(auto insert, db.prepare("INSERT INTO journal VALUES (?1, ?2, ?3, ?4, ?5)"));
  return JournalWriter(std::move(insert));
}

Status JournalWriter::add(const StampedFact& fact, std::uint64_t* sequence, Digest* chain) {
  return add_raw(fact.at, encode_fact(fact.fact), sequence, chain);
}

Status JournalWriter::add_raw(Instant stamp, std::string_view payload, std::uint64_t* sequence,
                              Digest* chain) {
  const std::uint64_t number = *sequence + 1;
  const Digest link = next_link(*chain, number, kFactFormat, stamp.ns, payload);
  insert_.bind(1, static_cast<std::int64_t>(number));
  insert_.bind(2, kFactFormat);
  insert_.bind(3, stamp.ns);
  insert_.bind_blob(4, payload);
  insert_.bind_blob(5, link.view());
  auto done = insert_.step();
  insert_.reset();
  if (!done) return std::move(done).error();
  *sequence = number;
  *chain = link;
  return {};
}

}  // namespace lockstep::launcher
