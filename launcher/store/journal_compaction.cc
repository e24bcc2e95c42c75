// Copies of a journal, made over a connection of their own: a shorter one, and one as it is.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "common/io/disk.h"
#include "common/io/file_system.h"
#include "launcher/sqlite/database_files.h"
#include "launcher/state/compact.h"
#include "launcher/store/journal.h"
#include "launcher/store/journal_file.h"
#include "launcher/store/least_facts.h"

namespace lockstep::launcher {

namespace {

std::string beside(const std::string& path) { return path + ".compact"; }

template <typename Each>
Result<JournalReader> read_all(Database& db, const JournalBase& base, Each each) {
  TRY_ASSIGN(auto reader, JournalReader::begin(db, base));
  StampedFact fact;
  for (;;) {
    TRY_ASSIGN(const bool more, reader.next(&fact));
    if (!more) return reader;
    TRY(each(fact));
  }
}

// Twice over the same rows: what is there, then what stays of it.
Result<CompactedJournal> write_compacted(Database& from, Database& to) {
  Compaction compaction;
  TRY_ASSIGN(const auto before, read_base(from));
  TRY_ASSIGN(const auto whole, read_all(from, before, [&](const StampedFact& fact) -> Status {
               compaction.see(fact);
               return {};
             }));
  JournalBase base{before.generation + 1, before.facts + whole.sequence() - before.kept,
                   whole.chain(), 0};
  Digest chain = first_link(base);
  std::uint64_t kept = 0;
  TRY_ASSIGN(auto writer, JournalWriter::prepare(to));
  TRY(read_all(from, before, [&](const StampedFact& fact) -> Status {
    const auto stays = compaction.keep(fact);
    return stays ? writer.add(*stays, &kept, &chain) : Status();
  }));
  for (const auto& fact : compaction.closing()) TRY(writer.add(fact, &kept, &chain));
  if (!compaction.sound())
    return make_error(ErrorCode::internal,
                      fmt::format("journal {}: the compacted copy gives a different state, so the "
                                  "journal is not compacted; please report this",
                                  from.path()));
  base.kept = kept;
  TRY(write_base(to, base));
  return CompactedJournal{to.path(), whole.sequence(), kept, chain};
}

Result<CompactedJournal> compact_into(const std::string& path, const std::string& to) {
  TRY_ASSIGN(auto from, Database::open(path));
  TRY_ASSIGN(auto db, Database::open(to));
  TRY(db.execute("PRAGMA synchronous = FULL; PRAGMA cache_size = -8192"));
  TRY(create_journal(db));
  TRY(from.execute("BEGIN"));  // both readings see the same rows
  TRY(db.execute("BEGIN IMMEDIATE"));
  TRY_ASSIGN(const auto compacted, write_compacted(from, db));
  TRY(db.execute("COMMIT"));
  return compacted;
}

}  // namespace

Result<CompactedJournal> compact_journal(const std::string& path) {
  TRY(discard_compaction(path));
  auto compacted = compact_into(path, beside(path));
  if (!compacted) (void)discard_compaction(path);
  return compacted;
}

Result<JournalPosition> read_journal(
    const std::string& path,
    const std::function<Status(const StampedFact&, const JournalPosition&)>& each) {
  TRY_ASSIGN(auto db, Database::open(path));
  TRY(db.execute("BEGIN"));  // the base and the rows are those of one moment
  TRY_ASSIGN(const auto base, read_base(db));
  TRY_ASSIGN(auto reader, JournalReader::begin(db, base));
  StampedFact fact;
  for (;;) {
    TRY_ASSIGN(const bool more, reader.next(&fact));
    const auto position = position_of(base, reader.sequence(), reader.chain());
    if (!more) return position;
    TRY(each(fact, position));
  }
}

Status discard_compaction(const std::string& path) { return remove_database(beside(path)); }

Status copy_journal(const std::string& path, const std::string& to) {
  TRY(remove_database(to));
  TRY_ASSIGN(auto db, Database::open(path));
  TRY_ASSIGN(auto copy, db.prepare("VACUUM INTO ?1"));
  copy.bind_text(1, to);
  auto done = copy.step();
  if (!done) return std::move(done).error();
  TRY_ASSIGN(const io::Fd file, io::open_file(to, O_RDONLY | O_CLOEXEC));
  if (io::disk::fsync(file.get()) != 0) return errno_error(errno, "cannot sync " + to);
  return {};
}

}  // namespace lockstep::launcher
