#include "launcher/daemon/stores/log_room.h"

#include "launcher/state/state.h"

namespace lockstep::launcher {

namespace {

constexpr Duration kTellLogsEvery = seconds(1);
// the number of bytes after which the intake is told, too
constexpr std::uint64_t kTellLogBytes = 1u << 20;
// The bytes of logs of ended ranks that are accepted above a quota, so that jobs can end.
constexpr std::uint64_t kLastLogs = 16u << 20;

}  // namespace

std::string LogRoom::why_none(const AttemptId& attempt, NodeId node) {
  const Part* part = durable_.core().state().assigned_part(attempt, node);
  if (part == nullptr) return "";
  const std::uint64_t lacking = part->finished() ? intake_.lacking(attempt, node) : 0;
  if (lacking > 0 && lacking <= kLastLogs) return "";
  return durable_.core().why_no_more_files(attempt.job);
}

void LogRoom::taken(const LogAppend& logs, NodeId node) {
  const PartKey part{logs.key.attempt, node};
  is_full_ = false;
  over_quota_.erase(part);
  Sizes& sizes = sizes_[part];
  std::uint64_t& end = sizes.ends[{logs.key.rank, logs.key.stream}];
  const std::uint64_t now = logs.offset + logs.data.size();
  if (now <= end) return;
  sizes.bytes += now - end;
  end = now;
  if (sizes.bytes - sizes.told >= kTellLogBytes) tell(part, sizes);
}

void LogRoom::refused(const AttemptId& attempt, NodeId node, const std::string& why,
                      bool by_quota) {
  std::uint64_t& episode =
      by_quota ? over_quota_.try_emplace({attempt, node}, 0).first->second : full_episode_;
  const bool is_new = by_quota ? episode == 0 : !std::exchange(is_full_, true);
  if (is_new) episode = ++episodes_;
  durable_.feed(LogsRefusedInput{attempt, node, episode, intake_.lacking(attempt, node), why});
}

void LogRoom::tell(const PartKey& part, Sizes& sizes) {
  sizes.told = sizes.bytes;
  durable_.feed(LogsGrewInput{part.first, part.second, sizes.bytes});
}

void LogRoom::turn_end() {
  const Instant now = durable_.now();
  if (now - told_ < kTellLogsEvery && now >= told_) return;
  told_ = now;
  for (auto& [part, sizes] : sizes_)
    if (sizes.told != sizes.bytes) tell(part, sizes);
}

void LogRoom::forget(const JobId& job) {
  const auto is_of_job = [&](const auto& item) { return item.first.first.job == job; };
  std::erase_if(over_quota_, is_of_job);
  std::erase_if(sizes_, is_of_job);
}

}  // namespace lockstep::launcher
