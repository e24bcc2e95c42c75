#include "launcher/logs/log_followers.h"
#include "common/domain/messages/no_such_job.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::launcher {
namespace {

bool is_of_node(const LogKey& key) { return key.stream == LogStream::environment; }

// The end of the last line in `data`, or of the last state of a line that carriage returns restart;
// data.size() if there is none. A carriage return at the very end may be the first half of "\r\n".
std::size_t whole_lines(std::string_view data) {
  if (const auto newline = data.rfind('\n'); newline != std::string_view::npos) return newline + 1;
  const auto restart = data.substr(0, data.size() - 1).rfind('\r');
  return restart == std::string_view::npos ? data.size() : restart + 1;
}

}  // namespace

LogFollowers::LogFollowers(LogStore& store, const LogDirectory& directory, Send send)
    : store_(store), directory_(directory), send_(std::move(send)) {}

bool LogFollowers::wants(const Follower& follower, const LogKey& key) const {
  const auto& filter = follower.filter;
  if (key.attempt.job != filter.job || key.attempt.number < follower.first_attempt ||
      key.attempt.number > follower.last_attempt)
    return false;
  if (is_of_node(key) && (filter.rank || filter.ranks_only)) return false;
  if (filter.rank && *filter.rank != key.rank) return false;
  if (filter.stream && *filter.stream != key.stream) return false;
  if (!filter.node_rank) return true;
  const auto place = directory_.place(key);
  return place && place->node_rank == *filter.node_rank;
}

Status LogFollowers::follow(const std::string& peer, std::uint64_t sequence,
                            const LogFollow& request, const std::string& user) {
  const auto job = directory_.job(request.job);
  if (!job) return no_such_job(request.job);
  if (request.attempt > job->attempts)
    return make_error(ErrorCode::not_found,
                      fmt::format("job '{0}' has no attempt {2}; it has {1} attempt(s)",
                                  request.job.value, job->attempts, request.attempt));
  end(peer);
  if (followers_.size() >= kMaxFollowers)
    return make_error(ErrorCode::resource_exhausted,
                      fmt::format("{} clients already follow logs, which is the maximum; try again "
                                  "when one of them has ended",
                                  kMaxFollowers));
  const auto mine = of_user_.find(user);
  if (!user.empty() && mine != of_user_.end() && mine->second >= kMaxFollowersPerUser)
    return make_error(ErrorCode::resource_exhausted,
                      fmt::format("user '{}' already follows logs with {} commands, the maximum "
                                  "for a user; end some of these commands",
                                  user, mine->second));
  Follower follower;
  follower.user = user;
  follower.filter = request;
  follower.sequence = sequence;
  follower.credit = std::min(request.credit, kMaxFollowCredit);
  follower.first_attempt = std::max(1u, request.attempt ? request.attempt : job->attempts);
  if (request.attempt) follower.last_attempt = request.attempt;
  for (const auto& position : request.resume) {
    follower.positions[position.key] = position.offset;
    // The rest of an attempt that was the newest when the follow was interrupted.
    if (!request.attempt && position.key.attempt.job == request.job)
      follower.first_attempt = std::min(follower.first_attempt, position.key.attempt.number);
  }
  TRY(start(follower));
  follower.filter.resume.clear();
  by_job_[request.job].insert(peer);
  followers_.emplace(peer, std::move(follower));
  ++of_user_[user];
  drop_if_over(peer);
  return {};
}

void LogFollowers::end(const std::string& peer) {
  const auto old = followers_.find(peer);
  if (old == followers_.end()) return;
  forget(old);
}

void LogFollowers::drop_gone(const std::function<bool(const std::string& peer)>& is_gone) {
  for (auto it = followers_.begin(); it != followers_.end();) {
    const auto next = std::next(it);
    if (is_gone(it->first)) forget(it);
    it = next;
  }
}

void LogFollowers::forget(std::map<std::string, Follower>::iterator follower) {
  const auto peers = by_job_.find(follower->second.filter.job);
  peers->second.erase(follower->first);
  if (peers->second.empty()) by_job_.erase(peers);
  const auto mine = of_user_.find(follower->second.user);
  if (--mine->second == 0) of_user_.erase(mine);
  followers_.erase(follower);
}

std::optional<JobId> LogFollowers::followed_by(const std::string& peer) const {
  const auto found = followers_.find(peer);
  if (found == followers_.end()) return std::nullopt;
  return found->second.filter.job;
}

Status LogFollowers::start(Follower& follower) {
  const auto job = directory_.job(follower.filter.job);
  const auto last = std::min(follower.last_attempt, job ? job->attempts : 0);
  for (auto number = follower.first_attempt; number <= last; ++number)
    TRY(start_attempt(follower, directory_.attempt(follower.filter.job, number)));
  return {};
}

Status LogFollowers::start_attempt(Follower& follower, const AttemptId& attempt) {
  TRY_ASSIGN(const auto keys, store_.list(attempt));
  for (const auto& key : keys) {
    if (!wants(follower, key)) continue;
    if (follower.positions.count(key) == 0) {
      TRY_ASSIGN(follower.positions[key], begin_of(follower.filter, key));
    }
    const std::uint64_t position = follower.positions[key];
    const auto extent = store_.extent(key);
    if (extent && position < extent->written)
      follower.pending.set(key, store_.time_at(key, position));
  }
  return {};
}

Result<std::uint64_t> LogFollowers::begin_of(const LogFollow& filter, const LogKey& key) {
  std::uint64_t begin = 0;
  if (filter.tail_lines >= 0) {
    TRY_ASSIGN(begin, store_.tail_offset(key, static_cast<std::uint64_t>(filter.tail_lines)));
  }
  if (!filter.since) return begin;
  TRY_ASSIGN(const std::uint64_t since, store_.since_offset(key, *filter.since));
  return std::max(begin, since);
}

void LogFollowers::credit(const std::string& peer, std::uint32_t chunks) {
  const auto it = followers_.find(peer);
  if (it == followers_.end()) return;
  it->second.credit =
      std::min(kMaxFollowCredit, it->second.credit + std::min(chunks, kMaxFollowCredit));
  drop_if_over(peer);
}

void LogFollowers::grew(const LogKey& key) {
  const auto peers = by_job_.find(key.attempt.job);
  if (peers == by_job_.end()) return;
  for (const auto& peer : std::set<std::string>(peers->second)) {
    auto& follower = followers_.at(peer);
    if (!follower.filter.follow || !wants(follower, key)) continue;
    wait(follower, key);
    drop_if_over(peer);
  }
}

// Lets a log wait. If only one log waits, it is sent next, however old its bytes are.
void LogFollowers::wait(Follower& follower, const LogKey& key) {
  if (follower.pending.contains(key)) return;
  const bool is_alone = follower.pending.empty();
  follower.pending.set(key, is_alone ? Instant{} : store_.time_at(key, follower.positions[key]));
}

void LogFollowers::job_changed(const JobId& job) {
  const auto peers = by_job_.find(job);
  if (peers == by_job_.end()) return;
  for (const auto& peer : std::set<std::string>(peers->second)) drop_if_over(peer);
}

void LogFollowers::drop_if_over(const std::string& peer) {
  const auto it = followers_.find(peer);
  if (it == followers_.end() || pump(peer, it->second)) return;
  forget(it);
}

bool LogFollowers::pump(const std::string& peer, Follower& follower) {
  while (follower.credit > 0 && !follower.pending.empty())
    if (!send_next(peer, follower)) return false;
  if (!follower.pending.empty()) return true;
  const auto job = directory_.job(follower.filter.job);
  const bool over = !follower.filter.follow || !job || job->final;
  return !over || !send_end(peer, follower);
}

// Sends one chunk of the log whose turn it is. If possible the chunk ends with a line, so that the
// next chunk's time is a line's.
bool LogFollowers::send_next(const std::string& peer, Follower& follower) {
  const LogKey key = follower.pending.next(follower.last_sent);
  auto& position = follower.positions[key];
  auto data = store_.read(key, position, kFollowChunkBytes);
  const auto extent = store_.extent(key);
  if (!data || data->empty() || !extent) {
    follower.pending.remove(key);
    return true;
  }
  if (position + data->size() < extent->written) data->resize(whole_lines(*data));
  const auto place = directory_.place(key);
  LogChunk chunk{key, place ? place->node_rank : 0, place ? place->node_name : "", position,
                 std::move(*data)};
  if (follower.filter.times)
    chunk.times = store_.times(key, position, position + chunk.data.size());
  chunk.more = follower.pending.size() > 1 || position + chunk.data.size() < extent->written;
  const auto size = chunk.data.size();
  if (!send_(peer, follower.sequence, std::move(chunk))) return false;
  position += size;
  --follower.credit;
  follower.last_sent = key;
  if (position >= extent->written)
    follower.pending.remove(key);
  else
    follower.pending.set(key, store_.time_at(key, position));
  return true;
}

// True if the end was sent, or can never be sent.
bool LogFollowers::send_end(const std::string& peer, const Follower& follower) {
  const auto job = directory_.job(follower.filter.job);
  (void)send_(peer, follower.sequence, LogEnd{job ? job->status : ""});
  return true;
}

}  // namespace lockstep::launcher
