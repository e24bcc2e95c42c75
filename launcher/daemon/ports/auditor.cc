#include "launcher/daemon/ports/auditor.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "common/grammar/key_word.h"
#include "launcher/audit/page.h"
#include "launcher/audit/verify.h"
#include "launcher/core/access/authority.h"
#include "launcher/words/why.h"

namespace lockstep::launcher {

namespace {

constexpr Duration kSyncEvery = milliseconds(250);
constexpr Duration kTryAgainAfter = seconds(1);
constexpr Duration kTellEvery = minutes(1);
constexpr Duration kSameRead = minutes(1);
constexpr std::size_t kMaxWaiting = 10'000;  // entries that wait for disk space
constexpr std::size_t kMaxSources = 20;      // sources that are named individually
constexpr std::size_t kMaxReads = 10'000;
constexpr std::size_t kMaxWords = 10'000;
constexpr int kMaxAnswering = 16;

}  // namespace

Auditor::Auditor(io::EventLoop& loop, AuditLog log, std::function<Instant()> now)
    : loop_(loop), log_(std::move(log)), now_(std::move(now)) {
  for (const auto& finding : log_.findings()) spdlog::error("audit log: {}", finding);
}

// ---- what it is told ----------------------------------------------------------------------------

void Auditor::record(AuditEntry entry) {
  entry.at = now_();
  if (!entry.key.empty()) entry.key = word_of(entry.key);
  if (entry.outcome == AuditOutcome::refused && !may_refuse(entry))
    return left_out(entry.address.empty() ? entry.who : entry.address);
  if (entry.outcome == AuditOutcome::read && is_repeated(entry)) return;
  add(std::move(entry));
}

std::string Auditor::word_of(const std::string& key) {
  if (words_.size() >= kMaxWords) words_.clear();
  std::string& word = words_[key];
  if (word.empty()) word = key_word(PublicKey(key));
  return word;
}

void Auditor::add(AuditEntry entry) { log_.add(std::move(entry)); }

bool Auditor::may_refuse(const AuditEntry& entry) {
  return log_.waiting() < kMaxWaiting &&
         limits_.of_key.take(entry.key.empty() ? entry.who : entry.key, entry.at) &&
         limits_.of_address.take(entry.address, entry.at) && limits_.of_all.take(0, entry.at);
}

bool Auditor::is_repeated(const AuditEntry& entry) {
  if (reads_.size() >= kMaxReads)
    std::erase_if(reads_, [&](const auto& read) { return read.second + kSameRead <= entry.at; });
  if (reads_.size() >= kMaxReads) reads_.clear();
  const auto [known, fresh] = reads_.try_emplace({entry.key, entry.what, entry.object}, entry.at);
  if (fresh) return false;
  if (known->second + kSameRead > entry.at) return true;
  known->second = entry.at;
  return false;
}

void Auditor::left_out(const std::string& source) {
  if (left_out_.empty() && left_out_of_others_ == 0) {
    left_out_since_ = now_();
    tell_at_ = left_out_since_ + kTellEvery;
  }
  if (left_out_.size() < kMaxSources || left_out_.count(source) != 0)
    ++left_out_[source];
  else
    ++left_out_of_others_;
}

void Auditor::tell_left_out() {
  if (left_out_.empty() && left_out_of_others_ == 0) return;
  AuditEntry entry;
  entry.at = now_();
  entry.who = name_of(LauncherItself{});
  entry.what = "leave out refusals";
  std::uint64_t count = left_out_of_others_;
  for (const auto& [source, times] : left_out_) {
    count += times;
    entry.detail += fmt::format("{}{} of {}", entry.detail.empty() ? "" : ", ", times,
                                source.empty() ? "an unknown address" : source);
  }
  if (left_out_of_others_ != 0) entry.detail += fmt::format(", {} of others", left_out_of_others_);
  entry.object = fmt::format("{} refusals since {}", count, to_string(left_out_since_));
  left_out_.clear();
  tell_at_ = Instant::never();
  left_out_of_others_ = 0;
  add(std::move(entry));
}

void Auditor::record_keys(const std::map<PublicKey, std::string>& before,
                          const std::map<PublicKey, std::string>& after) {
  const auto record_missing = [&](const auto& from, const auto& in, const char* what) {
    for (const auto& [key, user] : from) {
      if (in.count(key) != 0) continue;
      AuditEntry entry;
      entry.who = name_of(LauncherItself{});
      entry.what = what;
      entry.object = "user " + user;
      entry.outcome = AuditOutcome::done;
      entry.detail = key_word(key) + ", as keys/authorized_users says";
      record(std::move(entry));
    }
  };
  record_missing(after, before, "add key");
  record_missing(before, after, "take key");
}

// Records a deletion, unless a user requested it: then the request has an entry already.
void Auditor::perform(const ForgetJob& action) {
  if (!action.is_by_limit) return;
  AuditEntry entry;
  entry.who = name_of(LauncherItself{});
  entry.what = "delete jobs";
  entry.object = "job " + action.job.value;
  entry.outcome = AuditOutcome::done;
  entry.detail = words::text_of(action.why);
  entry.project = action.project;
  record(std::move(entry));
}

// ---- to the disk --------------------------------------------------------------------------------

void Auditor::write() {
  if (log_.waiting() == 0 || (is_failing_ && now_() < retry_at_)) return;
  const Status done = log_.write(now_());
  if (done && is_failing_) spdlog::info("the audit log can be written again; no entry was lost");
  if (!done && !is_failing_)
    spdlog::error(
        "{}; {} entries wait in memory, and are lost if the launcher stops before they are "
        "written: free space on that disk",
        done.error().message, log_.waiting());
  is_failing_ = !done;
  if (!done) retry_at_ = now_() + kTryAgainAfter;
}

void Auditor::turn_end() {
  const Instant now = now_();
  if (now >= tell_at_) tell_left_out();
  write();
  if (!is_syncing_ && now >= sync_at_) sync();
}

Duration Auditor::wait() const {
  if (is_syncing_) return Duration::max();  // the end of the sync wakes the loop
  return log_.written() == synced_ ? Duration::max()
                                   : std::max(sync_at_ - now_(), Duration::zero());
}

void Auditor::sync() {
  auto sync = log_.take_sync();
  if (!sync) return;
  is_syncing_ = true;
  sync_at_ = now_() + kSyncEvery;
  synced_ = log_.written();
  syncer_.run([this, sync = std::move(*sync)] {
    const Status done = sync.run();
    loop_.post([this, done] {
      is_syncing_ = false;
      if (done) return;
      spdlog::error("audit log: {}", done.error().message);
      log_.sync_failed(done.error().message, now_());
    });
  });
}

std::string Auditor::is_stuck() const {
  if (log_.waiting() < kMaxWaiting) return "";
  return fmt::format(
      "the launcher cannot write its audit log ({} entries wait for space in {}), so it refuses "
      "all changes: free space there, and try again",
      log_.waiting(), log_.folder());
}

// ---- what admins ask ----------------------------------------------------------------------------

void Auditor::answer(std::function<ClientReply()> work, std::function<void(ClientReply)> then) {
  if (answering_ >= kMaxAnswering)
    return then(Refused{ErrorCode::resource_exhausted,
                        "the launcher is already answering as many audit queries as it can; ask "
                        "again in a moment"});
  ++answering_;
  reader_.run([this, work = std::move(work), then = std::move(then)] {
    auto reply = std::make_shared<ClientReply>(work());
    loop_.post([this, then, reply] {
      --answering_;
      then(std::move(*reply));
    });
  });
}

namespace {

template <typename Reply>
ClientReply reply_of(Result<Reply> result) {
  if (result) return *std::move(result);
  return Refused{result.error().code, std::move(result.error().message)};
}

}  // namespace

void Auditor::query(const QueryAudit& query, std::function<void(ClientReply)> then) {
  write();
  answer([folder = log_.folder(), query] { return reply_of(audit_page(folder, query)); },
         std::move(then));
}

void Auditor::verify(const VerifyAudit& ask, std::function<void(ClientReply)> then) {
  write();
  answer([folder = log_.folder(), newest = log_.written(),
          mark = ask.mark] { return reply_of(verify_audit(folder, newest, mark)); },
         std::move(then));
}

}  // namespace lockstep::launcher
