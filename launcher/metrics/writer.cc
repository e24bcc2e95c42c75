#include "launcher/metrics/writer.h"

#include <fmt/format.h>

#include <csignal>
#include <utility>

#include "launcher/sqlite/database_files.h"
#include "launcher/sqlite/schema.h"

namespace lockstep::metrics {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostInAGroup = 2'000;  // changes of one transaction
constexpr std::uint64_t kPurgedAtOnce = 5'000;
constexpr const char* kGiveBackPages = "PRAGMA incremental_vacuum(256)";

bool removes(const Change& change) {
  return std::holds_alternative<RemoveRun>(change) || std::holds_alternative<RemoveJob>(change);
}

}  // namespace

// ---- callers' threads ---------------------------------------------------------------------------

Result<std::unique_ptr<Writer::Store>> Writer::open_store(const std::string& path,
                                                          const MetricsLimits& limits) {
  TRY_ASSIGN(auto db, open_tables(path));
  auto store = std::make_unique<Store>();
  store->db = std::move(db);
  TRY_ASSIGN(auto applier, Applier::prepare(store->db, limits));
  store->applier = std::move(applier);
  return store;
}

Result<std::unique_ptr<Writer>> Writer::open(const std::string& path, const MetricsLimits& limits) {
  std::string finding;
  auto store = open_store(path, limits);
  if (!store && store.error().code == ErrorCode::corrupt) {
    const std::string why = store.error().message;
    TRY_ASSIGN(const std::string kept, launcher::set_aside(path));
    finding = fmt::format(
        "the store of metrics is damaged: {}; it is kept as {}, and a new one is "
        "begun without the metrics of before",
        why, kept);
    store = open_store(path, limits);
  }
  if (!store) return std::move(store).error();
  return std::unique_ptr<Writer>(new Writer(*std::move(store), std::move(finding)));
}

Writer::Writer(std::unique_ptr<Store> store, std::string finding)
    : finding_(std::move(finding)), store_(std::move(store)), thread_([this] { serve(); }) {}

Writer::~Writer() {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

Status Writer::add(Change change, Done done) {
  TRY(validate(change));
  const std::size_t bytes = bytes_of(change);
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= kMaxWaitingChanges || queue_bytes_ + bytes > kMaxWaitingBytes)
      return make_error(
          ErrorCode::resource_exhausted,
          fmt::format("{} changes of metrics wait to be written, and no more may wait; try again",
                      queue_.size()));
    queue_bytes_ += bytes;
    queue_.push_back({std::move(change), std::move(done), bytes});
    is_settled_ = false;
  }
  changed_.notify_one();
  return {};
}

Writer::Load Writer::load() const {
  const std::lock_guard lock(mutex_);
  return {queue_.size(), queue_bytes_};
}

void Writer::settle() {
  std::unique_lock lock(mutex_);
  settled_.wait(lock, [this] { return is_settled_; });
}

// ---- the writer's thread ------------------------------------------------------------------------

void Writer::serve() {
  // Signals belong to the loop's thread.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  for (;;) {
    auto group = take_group();
    if (!group.empty())
      write(std::move(group));
    else if (is_to_end())
      return;
    else if (to_purge_)
      purge();
    sync_if_due();
  }
}

bool Writer::is_to_end() const {
  const std::lock_guard lock(mutex_);
  return leaving_ && queue_.empty();
}

// What waits; nothing when there is other work to do, or when the writer is to end.
std::deque<Writer::Waiting> Writer::take_group() {
  std::unique_lock lock(mutex_);
  const auto has_work = [this] { return leaving_ || !queue_.empty(); };
  if (!to_purge_ && queue_.empty()) {
    is_settled_ = true;
    settled_.notify_all();
    if (sync_at_)
      changed_.wait_until(lock, *sync_at_, has_work);
    else
      changed_.wait(lock, has_work);
  }
  std::deque<Waiting> group;
  while (!queue_.empty() && group.size() < kMostInAGroup) {
    queue_bytes_ -= queue_.front().bytes;
    group.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return group;
}

void Writer::write(std::deque<Waiting> group) {
  std::vector<Status> results;
  const Status committed = commit(group, &results);
  if (committed && !sync_at_) sync_at_ = Clock::now() + kSyncEvery;
  for (std::size_t i = 0; i < group.size(); ++i) {
    to_purge_ = to_purge_ || removes(group[i].change);
    if (group[i].done) group[i].done(committed ? results[i] : committed);
  }
}

// An error: nothing of the whole group was written.
Status Writer::commit(const std::deque<Waiting>& group, std::vector<Status>* results) {
  TRY_ASSIGN(auto transaction, Transaction::begin(store_->db));
  for (const Waiting& waiting : group) {
    results->push_back(store_->applier->apply(waiting.change));
    if (!store_->db.is_in_transaction()) return results->back();
  }
  return transaction.commit();
}

void Writer::purge() {
  auto transaction = Transaction::begin(store_->db);
  const auto more =
      transaction ? store_->applier->purge(kPurgedAtOnce) : Result<bool>(transaction.error());
  const bool is_done = more && transaction->commit().has_value();
  // What fails here stays as it is until the next removal, or the next start.
  to_purge_ = is_done && *more;
  if (!is_done) return;
  if (!sync_at_) sync_at_ = Clock::now() + kSyncEvery;
  (void)store_->db.execute(kGiveBackPages);
}

void Writer::sync_if_due() {
  if (!sync_at_ || Clock::now() < *sync_at_) return;
  (void)launcher::checkpoint_wal(store_->db);
  sync_at_.reset();
}

}  // namespace lockstep::metrics
