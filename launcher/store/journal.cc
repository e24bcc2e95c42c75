#include "launcher/store/journal.h"

#include <fmt/format.h>

#include "common/base/check.h"
#include "common/base/digest.h"
#include "launcher/store/fact_codec.h"
#include "launcher/store/sqlite.h"

namespace lockstep::launcher {

namespace {

constexpr std::int64_t kApplicationId = 0x4c4b5331;  // "LKS1": tells a journal from other databases
constexpr std::int64_t kSchemaVersion = 1;

void append_little_endian(std::uint64_t value, int bytes, std::string* out) {
  for (int i = 0; i < bytes; ++i) *out += static_cast<char>(value >> (8 * i) & 0xff);
}

Digest chained(const Digest& previous, std::uint64_t sequence, int format, std::int64_t stamp,
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

Status prepare_schema(Database& db) {
  TRY_ASSIGN(const auto application, db.number("PRAGMA application_id"));
  TRY_ASSIGN(const auto version, db.number("PRAGMA user_version"));
  TRY_ASSIGN(const auto tables, db.number("SELECT count(*) FROM sqlite_master"));
  if (application == 0 && version == 0 && tables == 0)
    return db.execute(
        "BEGIN IMMEDIATE;"
        "CREATE TABLE journal (sequence INTEGER PRIMARY KEY, format INTEGER NOT NULL,"
        " stamp INTEGER NOT NULL, payload BLOB NOT NULL, checksum BLOB NOT NULL) STRICT;"
        "PRAGMA application_id = 1280004913;"
        "PRAGMA user_version = 1;"
        "COMMIT;");
  if (application != kApplicationId)
    return make_error(ErrorCode::corrupt,
                      db.path() + ": is a database, but not a journal of Lockstep");
  if (version != kSchemaVersion)
    return make_error(ErrorCode::unsupported,
                      fmt::format("{}: was written by a newer Lockstep (journal version {}, this "
                                  "program reads {}); start that version",
                                  db.path(), version, kSchemaVersion));
  return {};
}

}  // namespace

struct Journal::Impl {
  Database db;
  Statement insert, begin, commit;
  Digest chain;
  std::uint64_t sequence = 0;
  enum class Use { opened, replayed, failed } use = Use::opened;

  Error bad_row(ErrorCode code, std::uint64_t number, const std::string& why) const {
    return make_error(code, fmt::format("journal {}: row {}: {}", db.path(), number, why));
  }
  Status take(const Statement& row, const std::function<void(const StampedFact&)>& each);
  Status insert_all(const std::vector<StampedFact>& facts, Digest* tip);
};

Journal::Journal(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Journal::~Journal() = default;
Journal::Journal(Journal&&) noexcept = default;
Journal& Journal::operator=(Journal&&) noexcept = default;

Result<Journal> Journal::open(const std::string& path) {
  TRY_ASSIGN(auto db, Database::open(path));
  // One process owns the file (the daemon's lock says so), hence no shared memory for the WAL
  // index.
  for (const char* pragma : {"PRAGMA locking_mode = EXCLUSIVE", "PRAGMA journal_mode = WAL",
                             "PRAGMA synchronous = FULL", "PRAGMA cache_size = -512"})
    TRY(db.execute(pragma));
  TRY(prepare_schema(db));
  TRY_ASSIGN(auto insert, db.prepare("INSERT INTO journal VALUES (?1, ?2, ?3, ?4, ?5)"));
  TRY_ASSIGN(auto begin, db.prepare("BEGIN IMMEDIATE"));
  TRY_ASSIGN(auto commit, db.prepare("COMMIT"));
  return Journal(std::unique_ptr<Impl>(new Impl{std::move(db),
                                                std::move(insert),
                                                std::move(begin),
                                                std::move(commit),
                                                {},
                                                0,
                                                Impl::Use::opened}));
}

Status Journal::Impl::take(const Statement& row,
                           const std::function<void(const StampedFact&)>& each) {
  const auto number = static_cast<std::uint64_t>(row.integer(0));
  if (number != sequence + 1)
    return bad_row(
        ErrorCode::corrupt, number,
        fmt::format("follows row {}: rows are missing; restore the file from a copy", sequence));
  const auto format = row.integer(1);
  if (format < 1 || format > kFactFormat)
    return bad_row(ErrorCode::unsupported, number,
                   fmt::format("has format {}, and this program reads up to {}; start the version "
                               "that wrote it",
                               format, kFactFormat));
  const Instant stamp{row.integer(2)};
  const auto payload = row.blob(3);
  const auto expected = chained(chain, number, static_cast<int>(format), stamp.ns, payload);
  if (row.blob(4) != expected.view())
    return bad_row(ErrorCode::corrupt, number,
                   "the checksum does not match: the row or the one before it was changed; restore "
                   "the file from a copy");
  auto fact = decode_fact(payload);
  if (!fact) return bad_row(fact.error().code, number, fact.error().message);
  each(StampedFact{stamp, std::move(*fact)});
  chain = expected;
  sequence = number;
  return {};
}

Status Journal::replay(const std::function<void(const StampedFact&)>& each) {
  CHECK(impl_->use == Impl::Use::opened, "a journal is replayed once, before the first append");
  TRY_ASSIGN(auto rows, impl_->db.prepare("SELECT sequence, format, stamp, payload, checksum "
                                          "FROM journal ORDER BY sequence"));
  for (;;) {
    TRY_ASSIGN(const bool row, rows.step());
    if (!row) break;
    TRY(impl_->take(rows, each));
  }
  impl_->use = Impl::Use::replayed;
  return {};
}

Status Journal::Impl::insert_all(const std::vector<StampedFact>& facts, Digest* tip) {
  auto number = sequence;
  for (const auto& stamped : facts) {
    const auto payload = encode_fact(stamped.fact);
    *tip = chained(*tip, ++number, kFactFormat, stamped.at.ns, payload);
    insert.bind(1, static_cast<std::int64_t>(number));
    insert.bind(2, kFactFormat);
    insert.bind(3, stamped.at.ns);
    insert.bind_blob(4, payload);
    insert.bind_blob(5, tip->view());
    auto done = insert.step();
    insert.reset();
    if (!done) return std::move(done).error();
  }
  return {};
}

Status Journal::append(const std::vector<StampedFact>& facts) {
  CHECK(impl_->use == Impl::Use::replayed,
        "a journal is appended to after its replay, and not "
        "after a failed append");
  if (facts.empty()) return {};
  impl_->use = Impl::Use::failed;
  const auto run = [](Statement& statement) -> Status {
    auto done = statement.step();
    statement.reset();
    if (!done) return std::move(done).error();
    return {};
  };
  auto tip = impl_->chain;
  TRY(run(impl_->begin));
  if (auto inserted = impl_->insert_all(facts, &tip); !inserted) {
    (void)impl_->db.execute("ROLLBACK");
    return inserted;
  }
  TRY(run(impl_->commit));
  impl_->chain = tip;
  impl_->sequence += facts.size();
  impl_->use = Impl::Use::replayed;
  return {};
}

std::uint64_t Journal::last_sequence() const { return impl_->sequence; }

}  // namespace lockstep::launcher
