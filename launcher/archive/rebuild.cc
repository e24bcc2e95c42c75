#include "launcher/archive/rebuild.h"

#include <optional>
#include <utility>
#include <vector>

#include "common/io/file_system.h"
#include "launcher/archive/tables.h"
#include "launcher/archive/writer.h"
#include "launcher/sqlite/database_files.h"
#include "launcher/state/state.h"
#include "launcher/store/journal.h"

namespace lockstep::archive {

namespace {

constexpr std::size_t kChangesAtOnce = 5'000;  // of one transaction

// The accounting of an archive, and of which facts it was made.
struct Accounts {
  JournalPosition mark;
  std::vector<Change> sums;
};

Result<std::optional<Accounts>> read_accounts(const std::string& path) {
  TRY_ASSIGN(auto db, open_tables(path));
  TRY_ASSIGN(const auto mark, read_mark(db));
  if (!mark) return std::optional<Accounts>();
  Accounts accounts{*mark, {}};
  TRY_ASSIGN(auto rows, db.prepare("SELECT day, owner, project, target, cpu_ms, gpu_ms, "
                                   "memory_mib_s, used_cpu_ms, waited_ms, attempts, jobs "
                                   "FROM accounting"));
  for (;;) {
    TRY_ASSIGN(const bool row, rows.step());
    if (!row) return std::optional(std::move(accounts));
    Used used{{rows.integer(0), std::string(rows.blob(1)), std::string(rows.blob(2)),
               std::string(rows.blob(3))},
              {rows.integer(4), rows.integer(5), rows.integer(6), rows.integer(7), rows.integer(8),
               rows.integer(9), rows.integer(10)}};
    accounts.sums.emplace_back(std::move(used));
  }
}

// nullopt: there are none, or they cannot be read.
std::optional<Accounts> old_accounts(const std::string& path) {
  if (!io::exists(path)) return std::nullopt;
  auto accounts = read_accounts(path);
  return accounts ? *std::move(accounts) : std::nullopt;
}

// Fills a new archive.
class Filler {
 public:
  Filler(Writer writer, Fold fold, const Accounts* accounts)
      : writer_(std::move(writer)), fold_(std::move(fold)), accounts_(accounts) {}

  Status see(const launcher::StampedFact& fact, const JournalPosition& position) {
    if (!may_keep(position)) return make_error(ErrorCode::conflict, "the accounts are others'");
    state_.apply(fact.at, fact.fact);
    SubmittedAs as;
    if (const auto* submitted = std::get_if<launcher::JobSubmitted>(&fact.fact))
      as = submitted_as(state_, submitted->job);
    std::vector<Change> changes;
    fold_.see(fact, as, &changes);
    const bool is_counted = accounts_ != nullptr && position.facts <= accounts_->mark.facts;
    for (Change& change : changes)
      if (!is_counted || !std::holds_alternative<Used>(change))
        changes_.push_back(std::move(change));
    return changes_.size() < kChangesAtOnce ? Status() : write(position);
  }
  Result<Fold> finish(const JournalPosition& end) {
    if (accounts_ != nullptr) {
      if (end.facts < accounts_->mark.facts || accounts_->mark.facts < end.compacted)
        return make_error(ErrorCode::conflict, "the accounts are of other facts");
      changes_.insert(changes_.end(), accounts_->sums.begin(), accounts_->sums.end());
    }
    TRY(write(end));
    TRY(writer_.finish());
    return std::move(fold_);
  }

 private:
  // Whether the accounts were made of this journal, as far as it can be told.
  bool may_keep(const JournalPosition& position) const {
    return accounts_ == nullptr || position.generation != accounts_->mark.generation ||
           position.facts != accounts_->mark.facts || position.chain == accounts_->mark.chain;
  }
  Status write(const JournalPosition& position) {
    TRY(writer_.apply(changes_, position));
    changes_.clear();
    return {};
  }

  Writer writer_;
  Fold fold_;
  const Accounts* const accounts_;
  launcher::State state_;
  std::vector<Change> changes_;
};

// conflict: the accounts do not belong to this journal.
Result<Rebuilt> fill(const std::string& journal, const std::string& path,
                     const Fold::Define& define, const Accounts* accounts) {
  TRY(launcher::remove_database(path));
  TRY_ASSIGN(auto writer, Writer::open(path));
  Filler filler(std::move(writer), Fold(define), accounts);
  TRY_ASSIGN(const auto end, launcher::read_journal(journal, [&](const auto& fact, const auto& at) {
               return filler.see(fact, at);
             }));
  TRY_ASSIGN(auto fold, filler.finish(end));
  return Rebuilt{std::move(fold), end, accounts != nullptr};
}

}  // namespace

Result<Rebuilt> rebuild(const std::string& journal, const std::string& archive,
                        const Fold::Define& define) {
  const std::string path = archive + ".rebuild";
  const auto accounts = old_accounts(archive);
  auto rebuilt = fill(journal, path, define, accounts ? &*accounts : nullptr);
  if (!rebuilt && accounts && rebuilt.error().code == ErrorCode::conflict)
    rebuilt = fill(journal, path, define, nullptr);
  Status done = rebuilt ? launcher::replace_database(path, archive) : rebuilt.error();
  if (done) return rebuilt;
  (void)launcher::remove_database(path).has_value();
  return std::move(done).error();
}

}  // namespace lockstep::archive
