#include "launcher/tools/fsck.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/base/quoted_name.h"
#include "common/io/disk.h"
#include "common/snapshot/content/blob_check.h"
#include "launcher/archive/reader.h"
#include "launcher/audit/verify.h"
#include "launcher/core/invariants.h"
#include "launcher/daemon/stores/log_folders.h"
#include "launcher/home/home_lock.h"
#include "launcher/home/layout.h"
#include "launcher/logs/log_store.h"
#include "launcher/metrics/reader.h"
#include "launcher/sqlite/database_files.h"
#include "launcher/state/roots.h"
#include "launcher/state/state.h"
#include "launcher/store/journal_check.h"
#include "launcher/tools/trial_fold.h"

namespace lockstep::launcher {

namespace {

class Fsck {
 public:
  Fsck(const FsckOptions& options, const LauncherHome& home) : options_(options), home_(home) {}

  Result<FsckReport> run() {
    TRY(check_journal_and_state());
    TRY(check_archive());
    TRY(check_metrics());
    TRY(check_blobs());
    TRY(check_logs());
    TRY(check_audit());
    return std::move(report_);
  }

 private:
  template <typename... Args>
  void problem(fmt::format_string<Args...> format, Args&&... args) {
    report_.problems.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  Status expect_broken_at(std::uint64_t row) const;
  Status check_journal_and_state();
  Status check_archive();
  void compare_with_archive(archive::Reader& archive);
  Status check_metrics();
  Status settle_damage(const Result<std::vector<std::string>>& found, const std::string& path,
                       const char* what);
  Status check_blobs();
  Status check_logs();
  void check_log(const LogKey& key, std::uint64_t size);
  Status check_log_folders();
  Status check_audit();

  const FsckOptions& options_;
  const LauncherHome& home_;
  FsckReport report_;
  State state_;
  bool whole_ = true;  // all facts were read, so what nothing refers to is of no use
};

// Guards against a typing error: an intact row must not be given up.
Status Fsck::expect_broken_at(std::uint64_t row) const {
  const auto refused = [&](const std::string& why) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("--truncate-journal-at {}: {}; nothing was changed", row, why));
  };
  TRY_ASSIGN(const JournalCheck journal, check_journal(home_.journal()));
  if (journal.lost && row == journal.rows + 1) return {};  // the count of facts is given up
  if (row < 1 || row > journal.rows)
    return refused(fmt::format("the journal has rows 1 to {}", journal.rows));
  if (journal.broken && *journal.broken != row)
    return refused(fmt::format("the first damaged row is {}", *journal.broken));
  if (!journal.broken && !why_not_folding(journal.facts))
    return refused("the journal is intact (to return to an older state, restore a backup)");
  return {};
}

Status Fsck::check_journal_and_state() {
  if (options_.truncate_at) {
    TRY(expect_broken_at(*options_.truncate_at));
    TRY_ASSIGN(const std::string copy, truncate_journal(home_.journal(), *options_.truncate_at));
    report_.repaired.push_back(
        fmt::format("removed journal row {} and all later rows; the original journal is kept in {}",
                    *options_.truncate_at, copy));
  }
  TRY_ASSIGN(JournalCheck journal, check_journal(home_.journal(), sign_of_life(home_)));
  report_.problems = std::move(journal.problems);
  if (journal.broken)
    problem(
        "the journal is intact up to row {}: restore a backup, or give up the later rows with "
        "--truncate-journal-at {} (a copy of the whole journal is kept)",
        *journal.broken - 1, *journal.broken);
  whole_ = !journal.broken && !journal.lost;
  report_.facts = journal.facts.size();
  if (auto why = why_not_folding(journal.facts)) {
    report_.problems.push_back(std::move(*why));
    whole_ = false;
    return {};
  }
  for (const StampedFact& fact : journal.facts) state_.apply(fact.at, fact.fact);
  report_.jobs = state_.jobs().size();
  for (const std::string& violation : check_invariants(state_)) problem("state: {}", violation);
  return {};
}

// A launcher makes a missing or damaged archive anew of the journal; what deleted jobs used is only
// there.
Status Fsck::check_archive() {
  if (!io::exists(home_.archive())) return {};
  auto archive = archive::Reader::open(home_.archive());
  const auto found =
      archive ? archive->problems() : Result<std::vector<std::string>>(archive.error());
  if (found && found->empty()) {
    if (whole_) compare_with_archive(*archive);
    return {};
  }
  archive = make_error(ErrorCode::unavailable, "it is set aside");  // closes it
  return settle_damage(found, home_.archive(), "the archive of ended jobs");
}

// Jobs run on without their metrics; what a damaged store has cannot be had from anywhere else.
Status Fsck::check_metrics() {
  if (!io::exists(home_.metrics())) return {};
  const auto found = [&]() -> Result<std::vector<std::string>> {
    TRY_ASSIGN(auto store, metrics::Reader::open(home_.metrics()));
    return store.problems();
  }();
  if (found && found->empty()) return {};
  return settle_damage(found, home_.metrics(), "the metrics of jobs");
}

// Nobody may have the database open.
Status Fsck::settle_damage(const Result<std::vector<std::string>>& found, const std::string& path,
                           const char* what) {
  if (!found && found.error().code != ErrorCode::corrupt) return found.error();
  if (!found) problem("{}", found.error().message);
  if (found)
    for (const std::string& line : *found) problem("{}", line);
  if (!options_.repair) return {};
  TRY_ASSIGN(const std::string kept, set_aside(path));
  report_.repaired.push_back(
      fmt::format("moved {} to {}; the launcher makes a new database at its start", what, kept));
  return {};
}

// What was not archived before a kill, a start of the launcher adds.
void Fsck::compare_with_archive(archive::Reader& archive) {
  std::uint64_t missing = 0;
  for (const auto& [id, job] : state_.jobs()) {
    const auto* const finish = job.finish();
    if (finish == nullptr) continue;
    const auto row = archive.find(id);
    if (!row) return problem("{}", row.error().message);
    if (!*row)
      ++missing;
    else if ((*row)->order == job.order && (*row)->status != finish->status)
      problem("job {} is {} in the journal and {} in the archive", id.value,
              to_string(finish->status), to_string((*row)->status));
  }
  if (missing > 0)
    report_.notes.push_back(fmt::format(
        "{} ended jobs are not in the archive yet; the launcher adds them at its start", missing));
}

Status Fsck::check_blobs() {
  TRY_ASSIGN(const auto blobs, snapshot::BlobCheck::open(home_.blobs()));
  std::vector<Digest> damaged;
  Status looked;
  each_root(state_, [&](const Root& root) {
    if (!looked) return;
    looked = blobs->check(root.tree, [&](const snapshot::BadBlob& bad) {
      problem("{}{}: blob {} {}", describe(root),
              bad.path.empty() ? "" : ", " + quoted_name(bad.path), bad.digest.hex(),
              bad.missing ? "is missing" : "is damaged: " + bad.why);
      if (!bad.missing) damaged.push_back(bad.digest);
    });
  });
  TRY(looked);
  report_.blobs = blobs->checked();
  TRY_ASSIGN(const auto others, blobs->others());
  TRY_ASSIGN(const auto leftovers, blobs->leftovers());
  if (!others.empty())
    report_.notes.push_back(
        fmt::format("{} blobs that no job refers to; the launcher removes them", others.size()));
  for (const auto& path : leftovers)
    report_.notes.push_back(fmt::format("{}: an unfinished upload", path));
  if (!options_.repair) return {};
  for (const Digest& digest : damaged) {
    TRY_ASSIGN(const std::string to, blobs->move_aside(digest));
    report_.repaired.push_back(fmt::format(
        "moved the damaged blob {} to {}; a client or node that has the blob can send it again",
        digest.hex(), to));
  }
  // If the journal is damaged, files that nothing refers to may belong to facts that cannot be
  // read.
  if (!whole_ || (others.empty() && leftovers.empty())) return {};
  TRY_ASSIGN(const std::uint64_t bytes, blobs->clean());
  report_.repaired.push_back(
      fmt::format("removed {} blobs that no job refers to and {} unfinished "
                  "uploads ({})",
                  others.size(), leftovers.size(), to_string(Bytes{bytes})));
  return {};
}

void Fsck::check_log(const LogKey& key, std::uint64_t size) {
  const std::string path = LogStore(home_.logs()).path(key);
  struct stat info {};
  const bool there = ::stat(path.c_str(), &info) == 0;
  const auto has = there ? static_cast<std::uint64_t>(info.st_size) : 0;
  if (has < size)
    problem("job {}, attempt {}, {} {}: {} {}", key.attempt.job.value, key.attempt.number,
            key.stream == LogStream::environment ? "environment on node" : "rank", key.rank, path,
            there ? fmt::format("has {} of {} bytes", has, size)
                  : fmt::format("is missing; it had {} bytes", size));
}

Status Fsck::check_logs() {
  for (const auto& [id, job] : state_.jobs()) {
    for (const Attempt& attempt : job.attempts) {
      for (const Part& part : attempt.parts) {
        // Logs of a part that is not released may still be under way; if they were given up, any
        // may be missing.
        const bool kept = part.released() != nullptr && !part.released()->lost_logs;
        if (!kept || part.exit() == nullptr) continue;
        for (const LogSize& sizes : part.exit()->logs)
          for (const auto& [key, size] : logs_of(attempt.id, sizes)) check_log(key, size);
      }
    }
  }
  return check_log_folders();
}

Status Fsck::check_log_folders() {
  if (!whole_ || !io::exists(home_.logs())) return {};
  TRY_ASSIGN(const auto jobs, io::list_directory(home_.logs()));
  for (const auto& job : jobs) {
    TRY_ASSIGN(const auto attempts, io::list_directory(home_.logs() + "/" + job));
    for (const auto& attempt : attempts) {
      const auto owner = owner_of_log_folder(state_, job, attempt);
      if (owner == LogFolderOwner::job) continue;
      const std::string path = home_.logs() + "/" + job + "/" + attempt;
      if (owner == LogFolderOwner::unknown) {
        report_.notes.push_back(path +
                                ": logs of a job that the journal does not know; they are kept; "
                                "remove them by hand if nobody needs them");
        continue;
      }
      report_.notes.push_back(path + ": logs of a job that was deleted");
      if (!options_.repair) continue;
      TRY(io::remove_tree(path));
      report_.repaired.push_back("removed " + path);
    }
    if (options_.repair) io::disk::rmdir((home_.logs() + "/" + job).c_str());
  }
  return {};
}

Status Fsck::check_audit() {
  if (!io::exists(home_.audit())) return {};  // no launcher of this version used this home
  const auto found = verify_audit(home_.audit(), {}, {});
  if (!found && found.error().code == ErrorCode::not_found) return {};
  if (!found) return found.error();
  for (const auto& note : found->notes) report_.notes.push_back("audit log: " + note);
  if (!found->problem.empty()) problem("audit log: {}", found->problem);
  return {};
}

}  // namespace

namespace {

// The launcher could not read files that another account writes there.
Status may_change(const std::string& home) {
  struct stat info {};
  if (::stat(home.c_str(), &info) != 0) return errno_error(errno, "cannot stat " + home);
  if (info.st_uid == ::geteuid()) return {};
  return make_error(ErrorCode::permission_denied,
                    fmt::format("{} belongs to uid {}, and only this account may change it; run "
                                "this command as that account (setpriv --reuid {})",
                                home, info.st_uid, info.st_uid));
}

}  // namespace

Result<FsckReport> fsck(const FsckOptions& options) {
  const LauncherHome home(options.home);
  TRY(expect_home(home));
  if (options.repair || options.truncate_at) TRY(may_change(home.path()));
  TRY_ASSIGN(const auto lock, lock_home(home));
  return Fsck(options, home).run();
}

}  // namespace lockstep::launcher
