#include "agent/supervise/disk_watch.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "common/domain/why/all/convert.h"
#include "common/domain/why/ranks/parts.h"
#include "common/io/attempt/working_place.h"
#include "common/io/file_system.h"
#include "common/io/files/held_files.h"
#include "common/io/files/tree_size.h"
#include "common/io/process.h"
#include "common/io/programs/process_table.h"

namespace lockstep::agent {
namespace {

constexpr Duration kLookEvery = seconds(1);
constexpr Duration kMeasureEvery = seconds(5);  // for attempts with a limit
// The most time for one attempt; files that were found by then count.
constexpr Duration kMeasureAtMost = seconds(20);
// The most time for one look at the open files of an attempt.
constexpr Duration kHeldAtMost = seconds(5);
constexpr int kShareOfTime = 20;

Bytes critical(Bytes low) { return Bytes{low.count / 4}; }

// The runner's descendants; for a container, the descendants of its first process.
std::set<int> processes_of(const io::AttemptDir& directory) {
  std::set<int> found;
  for (const std::string& file : {directory.runner_pid(), directory.container_pid()}) {
    const auto first = io::process_identity_from(io::read_regular_file(file).value_or(""));
    if (first && io::is_alive(*first)) found.merge(io::family_of(first->pid));
  }
  return found;
}

Bytes held_by(const io::AttemptDir& directory) {
  return io::measure_held(directory.path(), processes_of(directory), kHeldAtMost).bytes;
}

// Measures an attempt's disk. A file may lose its last name, or get one, during the walk, and must
// not count twice. So of two looks at the files that processes hold, one before and one after, the
// smaller counts.
void measure(const AgentHome& home, AttemptDisk& disk) {
  const io::AttemptDir directory = home.attempt(disk.attempt);
  const Bytes before = held_by(directory);
  const std::string logs = directory.logs().substr(directory.path().size() + 1);
  if (const auto size = io::measure_tree(directory.path(), {logs}, kMeasureAtMost))
    disk.used = size->bytes;
  const std::string working = io::working_directory(directory);
  if (working != directory.code())  // otherwise it was measured as part of the directory
    if (const auto placed = io::measure_tree(working, {}, kMeasureAtMost))
      disk.used.count += placed->bytes.count;
  if (before.count != 0) disk.removed = std::min(before, held_by(directory));
  disk.used.count += disk.removed.count;
}

}  // namespace

std::optional<MustEnd> who_must_end(const std::vector<AttemptDisk>& attempts,
                                    const io::DiskSpace& space, Bytes low) {
  for (const AttemptDisk& each : attempts)
    if (each.limit.count != 0 && each.used > each.limit)
      return MustEnd{each.attempt, DiskLimitReached{each.used, each.removed, each.limit}};
  if (space.free >= critical(low)) return std::nullopt;
  const auto most =
      std::max_element(attempts.begin(), attempts.end(),
                       [](const AttemptDisk& a, const AttemptDisk& b) { return a.used < b.used; });
  if (most == attempts.end() || space.free.count + most->used.count < low.count)
    return std::nullopt;
  return MustEnd{most->attempt, DiskIsFull{space.free, space.total, most->used, most->removed}};
}

DiskWatch::DiskWatch(io::EventLoop& loop, io::Clock& clock, Workers& workers, AgentHome home,
                     Bytes low, Bytes cap, Events events)
    : loop_(loop),
      clock_(clock),
      workers_(workers),
      home_(std::move(home)),
      low_(low),
      cap_(cap),
      events_(std::move(events)) {}

DiskWatch::~DiskWatch() { *alive_ = false; }

void DiskWatch::watch(const AttemptId& attempt, const LimitRequest& asked) {
  limits_[attempt] = limits_of(asked, {0, {}, cap_}).disk;
}

void DiskWatch::forget(const AttemptId& attempt) {
  limits_.erase(attempt);
  ended_.erase(attempt);
}

std::vector<AttemptDisk> DiskWatch::to_measure(bool all) const {
  std::vector<AttemptDisk> attempts;
  for (const auto& [attempt, limit] : limits_)
    if ((all || limit.count != 0) && ended_.count(attempt) == 0 && events_.is_running(attempt))
      attempts.push_back({attempt, {}, limit});
  return attempts;
}

void DiskWatch::tick(Instant now) {
  if (now < look_at_ || limits_.empty()) return;
  look_at_ = now + kLookEvery;
  if (now < measure_at_) return;
  const auto space = io::disk_space(home_.attempts());
  if (!space) return;
  const Bytes low = low_.count != 0 ? low_ : io::default_low_space(space->total);
  const bool is_full = space->free < critical(low) && ended_.empty();
  if (!is_full && now < limits_due_at_) return;
  std::vector<AttemptDisk> attempts = to_measure(is_full);
  if (attempts.empty()) return;
  measure_at_ = Instant::never();
  workers_.submit([this, alive = alive_, now, attempts = std::move(attempts), home = home_,
                   &loop = loop_]() mutable {
    for (AttemptDisk& each : attempts) measure(home, each);
    loop.post([this, alive, now, attempts] {
      if (*alive) measured(attempts, now);
    });
  });
}

void DiskWatch::measured(const std::vector<AttemptDisk>& attempts, Instant began) {
  const Instant now = clock_.now();
  const Duration took = now - began;
  measure_at_ = now + std::max<Duration>(kLookEvery, took * kShareOfTime);
  limits_due_at_ = now + std::max<Duration>(kMeasureEvery, took * kShareOfTime);
  const auto space = io::disk_space(home_.attempts());
  if (!space) return;
  Bytes low = low_.count != 0 ? low_ : io::default_low_space(space->total);
  // Until the disk space of ended parts is free again, only limits count.
  if (!ended_.empty()) low = {};
  const auto found = who_must_end(attempts, *space, low);
  if (!found || !events_.is_running(found->attempt)) return;
  spdlog::warn("ending {}: {}", to_string(found->attempt), log_text(found->why));
  ended_.insert(found->attempt);
  events_.end(*found);
}

}  // namespace lockstep::agent
