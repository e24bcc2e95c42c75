#include "launcher/store/journal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "common/base/check.h"
#include "common/io/disk.h"
#include "common/io/durable_copy.h"
#include "launcher/store/journal_file.h"
#include "launcher/store/least_facts.h"
#include "launcher/store/wal_check.h"

namespace lockstep::launcher {

namespace {

std::string copy_of_version(const std::string& path, std::int64_t version) {
  return fmt::format("{}.v{}", path, version);
}

// What an earlier process wrote to the WAL goes into the database now. It may have ended because a
// sync failed, and then the WAL can be in memory only, and look as if it was on disk; a page of the
// database is written anew, and synced. A full disk leaves all as it is.
Status settle_wal(Database& db) {
  const auto busy = db.number("PRAGMA wal_checkpoint(TRUNCATE)");
  if (busy || busy.error().code == ErrorCode::resource_exhausted) return {};
  return busy.error();
}

// The database and its statements, ready to append.
struct Opened {
  Database db;
  JournalWriter writer;
  Statement begin, commit;
  JournalBase base;
};

// `sign`: what shows that this is no new journal, if anything does.
Result<Opened> open_file(const std::string& path, const JournalTraces& traces,
                         const std::string& sign) {
  TRY(check_wal(path));
  TRY_ASSIGN(auto db, Database::open(path));
  for (const char* pragma :
       {"PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA cache_size = -512"})
    TRY(db.execute(pragma));
  TRY_ASSIGN(const auto version, journal_version(db));
  if (version == 0) {
    if (!sign.empty()) return lost_journal(path, traces, sign);
    TRY(create_journal(db));
  }
  TRY(settle_wal(db));  // of a new one too: its tables do not get lost with the WAL
  if (version > 0 && version < kJournalVersion) {
    TRY(copy_journal(path, copy_of_version(path, version)));
    TRY(migrate_journal(db, version));
  }
  TRY_ASSIGN(auto base, read_base(db));
  TRY_ASSIGN(auto writer, JournalWriter::prepare(db));
  TRY_ASSIGN(auto begin, db.prepare("BEGIN IMMEDIATE"));
  TRY_ASSIGN(auto commit, db.prepare("COMMIT"));
  return Opened{std::move(db), std::move(writer), std::move(begin), std::move(commit), base};
}

Status run(Statement& statement) {
  auto done = statement.step();
  statement.reset();
  if (!done) return std::move(done).error();
  return {};
}

}  // namespace

struct Journal::Impl {
  explicit Impl(std::string at) : path(std::move(at)) {}
  std::string path;
  std::optional<Opened> file;
  JournalTraces traces;
  LeastFacts least{path};
  Digest chain;
  std::uint64_t sequence = 0;
  // Of the open transaction, with what is staged in it.
  struct Tip {
    Digest chain;
    std::uint64_t sequence = 0;
  };
  std::optional<Tip> staged;
  enum class Use { opened, replayed, failed } use = Use::opened;

  Status add_tail(const CompactedJournal& compacted, std::uint64_t* number, Digest* tip);
  Status swap_files(const std::string& compacted);
};

Journal::Journal(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Journal::~Journal() = default;
Journal::Journal(Journal&&) noexcept = default;
Journal& Journal::operator=(Journal&&) noexcept = default;

Result<Journal> Journal::open(const std::string& path, const std::string& sign) {
  TRY_ASSIGN(const JournalTraces traces, look_for_traces(path));
  const std::string shows = traces.least ? least_facts_file(path) : sign;
  if (!traces.file && !shows.empty()) return lost_journal(path, traces, shows);
  TRY_ASSIGN(auto file, open_file(path, traces, shows));
  auto impl = std::make_unique<Impl>(path);
  impl->traces = traces;
  impl->chain = first_link(file.base);
  impl->file = std::move(file);
  return Journal(std::move(impl));
}

Status Journal::replay(const std::function<void(const StampedFact&)>& each) {
  return replay_placed([&each](const StampedFact& fact, const JournalPosition&) { each(fact); });
}

Status Journal::replay_placed(const EachPlaced& each) {
  CHECK(impl_->use == Impl::Use::opened, "a journal is replayed once, before the first append");
  TRY_ASSIGN(auto reader, JournalReader::begin(impl_->file->db, impl_->file->base));
  StampedFact fact;
  for (;;) {
    TRY_ASSIGN(const bool more, reader.next(&fact));
    if (!more) break;
    impl_->chain = reader.chain();
    impl_->sequence = reader.sequence();
    each(fact, position());
  }
  TRY(reader.check_pages(impl_->file->db));
  TRY(expect_facts(impl_->path, impl_->traces, impl_->file->base, impl_->sequence));
  for (auto version = kJournalVersion - 1; version > 0; --version)
    io::disk::unlink(copy_of_version(impl_->path, version).c_str());  // it is not needed any more
  impl_->use = Impl::Use::replayed;
  return {};
}

Status Journal::stage(const std::vector<StampedFact>& facts) {
  CHECK(impl_->use == Impl::Use::replayed,
        "a journal is appended to after its replay, and not "
        "after a failed append");
  if (facts.empty()) return {};
  impl_->use = Impl::Use::failed;
  if (!impl_->staged) {
    TRY(run(impl_->file->begin));
    impl_->staged = Impl::Tip{impl_->chain, impl_->sequence};
  }
  for (const auto& fact : facts) {
    auto added = impl_->file->writer.add(fact, &impl_->staged->sequence, &impl_->staged->chain);
    if (added) continue;
    (void)impl_->file->db.execute("ROLLBACK");
    return added;
  }
  impl_->use = Impl::Use::replayed;
  return {};
}

Status Journal::append(const std::vector<StampedFact>& facts) {
  TRY(stage(facts));
  if (!impl_->staged) return {};
  impl_->use = Impl::Use::failed;
  TRY(run(impl_->file->commit));
  impl_->chain = impl_->staged->chain;
  impl_->sequence = impl_->staged->sequence;
  impl_->staged.reset();
  impl_->use = Impl::Use::replayed;
  impl_->least.record(facts_ever(impl_->file->base, impl_->sequence));
  return {};
}

// ---- a compacted one takes its place ------------------------------------------------------------

// What was appended while the compaction was at work, in one durable transaction.
Status Journal::Impl::add_tail(const CompactedJournal& compacted, std::uint64_t* number,
                               Digest* tip) {
  TRY_ASSIGN(auto db, Database::open(compacted.path));
  TRY(db.execute("PRAGMA synchronous = FULL"));
  TRY_ASSIGN(auto writer, JournalWriter::prepare(db));
  TRY_ASSIGN(auto rows, file->db.prepare("SELECT stamp, payload FROM journal WHERE sequence > ?1 "
                                         "ORDER BY sequence"));
  rows.bind(1, static_cast<std::int64_t>(compacted.instead_of));
  TRY(db.execute("BEGIN IMMEDIATE"));
  for (;;) {
    TRY_ASSIGN(const bool row, rows.step());
    if (!row) break;
    TRY(writer.add_raw({rows.integer(0)}, rows.blob(1), number, tip));
  }
  return db.execute("COMMIT");
}

// The old file is whole without its WAL before the new one takes its name: a WAL belongs to the
// file beside which it lies.
Status Journal::Impl::swap_files(const std::string& compacted) {
  TRY_ASSIGN(const auto busy, file->db.number("PRAGMA wal_checkpoint(TRUNCATE)"));
  if (busy != 0)
    return make_error(ErrorCode::unavailable, path + ": is being read by another process");
  file.reset();
  for (const char* end : {"-wal", "-shm"}) io::disk::unlink((path + end).c_str());
  if (io::disk::rename(compacted.c_str(), path.c_str()) != 0)
    return errno_error(errno, fmt::format("cannot move {} to {}", compacted, path));
  TRY(io::sync_directory(path.substr(0, path.rfind('/'))));
  TRY_ASSIGN(auto opened, open_file(path, traces, path));
  file = std::move(opened);
  return {};
}

Status Journal::replace_with(const CompactedJournal& compacted) {
  CHECK(impl_->use == Impl::Use::replayed && !impl_->staged,
        "a journal is compacted while it is in use, and all of it is durable");
  auto tip = compacted.chain;
  auto number = compacted.kept;
  Status done = impl_->add_tail(compacted, &number, &tip);
  if (!done) {
    (void)discard_compaction(impl_->path);
    return make_error(ErrorCode::unavailable, done.error().message);
  }
  impl_->use = Impl::Use::failed;
  done = impl_->swap_files(compacted.path);
  if (!done && done.error().code == ErrorCode::unavailable && impl_->file) {
    (void)discard_compaction(impl_->path);
    impl_->use = Impl::Use::replayed;
  }
  if (!done) return done;
  impl_->chain = tip;
  impl_->sequence = number;
  impl_->use = Impl::Use::replayed;
  return {};
}

JournalPosition Journal::position() const {
  return position_of(impl_->file->base, impl_->sequence, impl_->chain);
}
std::uint64_t Journal::last_sequence() const { return impl_->sequence; }
std::uint64_t Journal::kept_by_compaction() const { return impl_->file->base.kept; }

}  // namespace lockstep::launcher
