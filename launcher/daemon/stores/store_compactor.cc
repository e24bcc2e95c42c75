#include "launcher/daemon/stores/store_compactor.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "common/io/disk.h"
#include "launcher/daemon/blobs/blob_server.h"
#include "launcher/daemon/stores/log_folders.h"
#include "launcher/words/why.h"

namespace lockstep::launcher {

namespace {

constexpr Duration kAgain = seconds(5);  // while a backup is being made
constexpr Duration kAfterFailure = minutes(10);
constexpr Duration kQuiet = seconds(2);          // time without a fact
constexpr Duration kAfterDeletion = seconds(1);  // more deletions may follow
// While the disk is low and nothing can be removed.
constexpr Duration kLongestLowPause = minutes(8);
constexpr std::size_t kFoldersAtOnce = 200;
constexpr std::size_t kFoldersNamed = 5;
constexpr std::size_t kMaxReplaced = 100'000;  // older ones are collected when their lease ends
// If there is space, replaced versions are removed at once only if they may take more than this
// part of it.
constexpr std::uint64_t kReplacedPart = 4;
constexpr Duration kPauseWithSpace = seconds(10);  // The least time between collections.
constexpr int kPauseFactor = 4;  // or this multiple of the time that the last one took

std::string path_of(const std::string& root, const std::string& job, const std::string& attempt) {
  return root + "/" + job + "/" + attempt;
}

}  // namespace

StoreCompactor::StoreCompactor(Parts parts)
    : loop_(parts.loop),
      durable_(parts.durable),
      blobs_(parts.blobs),
      logs_(parts.logs),
      home_(parts.home),
      settings_(parts.settings),
      space_(parts.space),
      ledger_(parts.ledger),
      archiver_(parts.archiver),
      collect_at_(durable_.started() + settings_.blob_lease) {
  // Linux sets this for the thread only; the loop's thread takes precedence.
  worker_.run([] { (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 10); });
}

StoreCompactor::~StoreCompactor() {
  if (collecting_) collecting_->stop();
}

void StoreCompactor::perform(const ForgetJob& action) {
  spdlog::info("job {} is deleted: {}", action.job.value, words::text_of(action.why));
  for (const auto& attempt : action.attempts)
    doomed_.push_back({attempt.job.value, LogStore::name_of(attempt)});
  const Instant soonest = durable_.started() + settings_.blob_lease;
  collect_at_ = std::min(collect_at_, std::max(soonest, durable_.now() + kAfterDeletion));
  collect_low_at_ = std::min(collect_low_at_, durable_.now() + kAfterDeletion);
  low_pause_ = kLowPause;
}

void StoreCompactor::perform(const TreesReplaced& action) {
  std::uint64_t bytes = action.size.count;
  for (const Digest& tree : action.trees) {
    replaced_.push_back({{tree, asker_of(action.attempt), std::chrono::steady_clock::now()},
                         durable_.now(),
                         bytes});
    replaced_bytes_ += std::exchange(bytes, 0);
  }
  while (replaced_.size() > kMaxReplaced) {
    replaced_bytes_ -= replaced_.front().bytes;
    replaced_.pop_front();
  }
  hurry();
}

// Replaced versions are of no use, so they are removed before new work is refused.
void StoreCompactor::hurry() {
  if (replaced_.empty()) return;
  const Instant soon = durable_.now() + kAfterDeletion;
  const auto after = [&](Duration pause) {
    return std::max(soon, collected_at_ + std::max(pause, took_ * kPauseFactor));
  };
  if (is_low()) {
    collect_low_at_ = std::min(collect_low_at_, after(kReplacedPause));
    return;
  }
  const std::uint64_t free = space_.space().free.count;
  const std::uint64_t spare = free - std::min(free, space_.low().count);
  if (replaced_bytes_ > spare / kReplacedPart)
    collect_at_ = std::min(collect_at_, after(kPauseWithSpace));
}

// Blobs that were touched just now may have been kept: the next collection checks them again.
void StoreCompactor::drop_released(Instant before) {
  while (!replaced_.empty() && replaced_.front().at < before) {
    replaced_bytes_ -= replaced_.front().bytes;
    replaced_.pop_front();
  }
}

void StoreCompactor::turn_end() {
  if (std::exchange(rows_, durable_.journal_rows()) != durable_.journal_rows())
    quiet_since_ = durable_.now();
  if (lock_ || durable_.is_writing() || durable_.now() < not_before_) return;
  if (!orphans_listed_) return list_orphans();
  if (!doomed_.empty()) return remove_logs();
  if (durable_.now() >= compaction_at()) return compact();
  if (!is_low()) {  // when the space gets low, the minute begins that users are told about
    low_pause_ = kLowPause;
    collect_low_at_ = std::min(collect_low_at_, durable_.now() + kLowPause);
  } else {
    hurry();
  }
  if (durable_.now() >= collect_at_ || (is_low() && durable_.now() >= collect_low_at_)) collect();
}

// While jobs come and go, a compaction would compete for the processor. So it waits for a moment
// without facts, until the journal is much larger than what would be kept.
Instant StoreCompactor::compaction_at() const {
  const std::uint64_t rows = durable_.journal_rows(), kept = durable_.journal_kept();
  if (rows < kept * 2 + settings_.compact_after) return Instant::never();
  if (rows >= kept * 4 + settings_.compact_after * 20) return compact_at_;
  return std::max(compact_at_, quiet_since_ + kQuiet);
}

Duration StoreCompactor::wait() {
  if (lock_ || durable_.is_writing()) return Duration::max();
  Instant due = is_low() ? std::min(collect_at_, collect_low_at_) : collect_at_;
  due = std::min(due, compaction_at());
  if (!orphans_listed_ || !doomed_.empty()) due = {};
  return std::max(std::max(due, not_before_) - durable_.now(), Duration::zero());
}

bool StoreCompactor::begin() {
  auto lock = io::FileLock::try_acquire(home_.stores_lock());
  if (lock && *lock) {
    lock_ = std::move(**lock);
    return true;
  }
  if (!lock) spdlog::warn("{}", lock.error().message);
  not_before_ = durable_.now() + (lock ? kAgain : kAfterFailure);
  return false;
}

void StoreCompactor::end() { lock_.reset(); }

// ---- logs of deleted jobs -----------------------------------------------------------------------

// Finds logs that a crash left between a deletion and the removal of the logs.
void StoreCompactor::list_orphans() {
  if (!begin()) return;
  orphans_listed_ = true;
  worker_.run([this, root = logs_.root()] {
    std::vector<LogFolder> folders;
    const auto jobs = io::list_directory(root);
    for (const auto& job : jobs ? *jobs : std::vector<std::string>()) {
      const auto attempts = io::list_directory(root + "/" + job);
      for (const auto& attempt : attempts ? *attempts : std::vector<std::string>())
        folders.push_back({job, attempt});
    }
    loop_.post([this, folders = std::move(folders)] {
      durable_.when_durable([this, folders] { found(folders); });
    });
  });
}

// Logs that no deletion explains are kept: if the journal lost facts, the logs must not be lost as
// well.
void StoreCompactor::found(const std::vector<LogFolder>& folders) {
  end();
  std::vector<LogFolder> deleted, unknown;
  for (const auto& folder : folders) {
    const auto owner = owner_of_log_folder(durable_.core().state(), folder.job, folder.attempt);
    if (owner == LogFolderOwner::deleted) deleted.push_back(folder);
    if (owner == LogFolderOwner::unknown) unknown.push_back(folder);
  }
  if (!deleted.empty())
    spdlog::info("removing the logs that deleted jobs left in {}: {}", logs_.root(),
                 first_of(deleted));
  if (!unknown.empty())
    spdlog::warn(
        "{} has logs of jobs that are not in the journal; these logs are kept: {}; remove them by "
        "hand if nobody needs them",
        logs_.root(), first_of(unknown));
  doomed_.insert(doomed_.end(), deleted.begin(), deleted.end());
}

std::string StoreCompactor::first_of(const std::vector<LogFolder>& folders) {
  std::string names;
  for (std::size_t i = 0; i < std::min(folders.size(), kFoldersNamed); ++i)
    names += fmt::format("{}{}/{}", i == 0 ? "" : ", ", folders[i].job, folders[i].attempt);
  if (folders.size() > kFoldersNamed)
    names += fmt::format(" and {} more", folders.size() - kFoldersNamed);
  return names;
}

void StoreCompactor::remove_logs() {
  if (!begin()) return;
  const auto count = static_cast<std::ptrdiff_t>(std::min(doomed_.size(), kFoldersAtOnce));
  std::vector<LogFolder> folders(doomed_.begin(), doomed_.begin() + count);
  doomed_.erase(doomed_.begin(), doomed_.begin() + count);
  worker_.run([this, root = logs_.root(), folders = std::move(folders)] {
    for (const auto& folder : folders)
      if (const auto done = io::remove_tree(path_of(root, folder.job, folder.attempt)); !done)
        spdlog::warn("{}", done.error().message);
    loop_.post([this, folders] { removed_logs(folders); });
  });
}

// Runs on this thread, which also makes new folders; only empty folders are removed.
void StoreCompactor::removed_logs(const std::vector<LogFolder>& folders) {
  end();
  for (const auto& folder : folders) io::disk::rmdir((logs_.root() + "/" + folder.job).c_str());
}

// ---- the journal --------------------------------------------------------------------------------

void StoreCompactor::compact() {
  if (!begin()) return;
  worker_.run([this, path = home_.journal()] {
    auto compacted = compact_journal(path);
    loop_.post([this, compacted = std::move(compacted)] { adopt(compacted); });
  });
}

void StoreCompactor::adopt(const Result<CompactedJournal>& compacted) {
  if (!compacted) return adopted(compacted.error(), 0);
  if (archiver_ == nullptr) return replace_by(*compacted);
  // A start could not archive what a compaction has dropped.
  archiver_->catch_up([this, compacted = *compacted](const Status& caught_up) {
    if (caught_up) return replace_by(compacted);
    if (const Status done = discard_compaction(home_.journal()); !done)
      spdlog::warn("{}", done.error().message);
    adopted(caught_up, 0);
  });
}

void StoreCompactor::replace_by(const CompactedJournal& compacted) {
  durable_.adopt(compacted, [this, before = durable_.journal_rows()](const Status& done) {
    adopted(done, before);
  });
}

void StoreCompactor::adopted(const Status& done, std::uint64_t before) {
  end();
  if (archiver_ != nullptr) archiver_->release();
  compact_at_ = durable_.now() + kAfterFailure;
  if (!done) return spdlog::warn("the journal was not compacted: {}", done.error().message);
  compact_at_ = {};
  spdlog::info("compacted the journal: {} of {} facts are left", durable_.journal_rows(), before);
}

// ---- blobs --------------------------------------------------------------------------------------

void StoreCompactor::collect() {
  if (!begin()) return;
  collect_at_ = durable_.now() + std::max(settings_.blob_lease, Duration(kAfterDeletion));
  collect_low_at_ = durable_.now() + kLongestLowPause;  // until it is known how much this one frees
  // Blobs that a node sent and has not reported yet belong to a job that has not ended.
  snapshot::BlobCollection::Leases leases{settings_.blob_lease, settings_.blob_lease,
                                          settings_.blob_lease};
  if (is_low()) leases.brief = std::min<Duration>(leases.brief, kBriefLease);
  if (is_low() && durable_.core().state().unfinished().empty())
    leases.lasting = leases.opened = leases.brief;
  collecting_ = std::make_unique<snapshot::BlobCollection>(blobs_, leases);
  std::vector<snapshot::BlobCollection::Released> released;
  released.reserve(replaced_.size());
  for (const Replaced& one : replaced_) released.push_back(one.tree);
  collecting_->release(std::move(released));
  collected_at_ = durable_.now();
  worker_.run([this, trees = durable_.core().trees()] {
    const Status marked = collecting_->mark(trees);
    auto count = marked ? collecting_->condemn() : Result<std::size_t>(marked.error());
    loop_.post([this, count] { durable_.when_durable([this, count] { condemned(count); }); });
  });
}

// Runs on the worker.
Status StoreCompactor::forget_senders() {
  if (ledger_ == nullptr) return {};
  ledger_->begin_trim();
  TRY_ASSIGN(const std::vector<Digest> here, blobs_.list());
  std::vector<snapshot::DigestKey> keys;
  keys.reserve(here.size());
  for (const Digest& digest : here) keys.push_back(snapshot::key_of(digest));
  std::sort(keys.begin(), keys.end());
  return ledger_->keep_only(keys);
}

// Spares trees that have been referred to since.
void StoreCompactor::condemned(const Result<std::size_t>& count) {
  if (!count) return collected(count.error());
  if (*count == 0 && !is_low()) return collected(snapshot::Collected{});
  worker_.run([this, trees = durable_.core().trees()] {
    const Status spared = collecting_->spare(trees);
    auto result = spared ? collecting_->sweep() : Result<snapshot::Collected>(spared.error());
    if (const Status forgot = result && result->blobs > 0 ? forget_senders() : Status(); !forgot)
      spdlog::warn("could not delete the records of who sent the removed files: {}",
                   forgot.error().message);
    loop_.post([this, result] { collected(result); });
  });
}

void StoreCompactor::collected(const Result<snapshot::Collected>& result) {
  collecting_.reset();
  end();
  // Blobs that were sent just now may be removed next time, within the minute that users are told
  // about.
  const bool goes_on = result && (result->bytes > 0 || result->more_soon);
  low_pause_ = goes_on ? kLowPause : std::min<Duration>(low_pause_ * 2, kLongestLowPause);
  collect_low_at_ = std::min(collect_low_at_, durable_.now() + low_pause_);
  took_ = std::max(durable_.now() - collected_at_, Duration::zero());
  if (result) drop_released(collected_at_ - snapshot::kReleasedLease);
  hurry();
  if (!result)
    spdlog::warn("files that no job refers to were not removed: {}", result.error().message);
  else if (result->blobs > 0 || result->bytes > 0)
    spdlog::info("removed {} files and folders that no job refers to ({})", result->blobs,
                 to_string(Bytes{result->bytes}));
}

}  // namespace lockstep::launcher
