#include "agent/environment/cache_limit.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "agent/environment/container_engine.h"
#include "common/io/attempt/attempt_dir.h"

namespace lockstep::agent {
namespace {

constexpr std::string_view kUnused =
    "unused for longer than the --unused-for of the last `environment prune`";

}  // namespace

std::set<std::string> EnvironmentCacheLimit::names_in_use() const {
  std::set<std::string> names;
  const auto attempts = io::list_directory(attempts_);
  if (!attempts) return names;
  for (const std::string& attempt : *attempts)
    names.insert(io::read_environment(io::AttemptDir(attempts_ + "/" + attempt)));
  return names;
}

bool EnvironmentCacheLimit::is_in_use(const std::string& name) const {
  return names_in_use().count(name) != 0;
}

bool EnvironmentCacheLimit::remove(const EnvironmentCache::Item& item, std::string_view why) {
  const envs::ImageRecord record = EnvironmentCache::image_record_of(item.entry);
  const auto gone =
      cache_.remove(item, [this](const std::string& name) { return is_in_use(name); });
  if (!gone) spdlog::warn("{}", gone.error().message);
  if (!gone || !*gone) return false;
  spdlog::info("removed {} ({}): {}", item.entry.path(), to_string(Bytes{item.bytes}), why);
  for (const std::string& name : record.names)
    if (const Status let_go = remove_name({record.engine, record.variables}, name); !let_go)
      spdlog::warn("could not remove the image {} from its engine: {}", name,
                   let_go.error().message);
  return true;
}

void EnvironmentCacheLimit::clean() {
  {
    const std::lock_guard guard(mutex_);
    cache_.finish_removals();
    for (const auto& item : cache_.list())
      if (!item.is_finished) remove(item, "it was never finished");
  }
  keep_what_is_wanted();
}

void EnvironmentCacheLimit::keep() {
  if (limit_.count == 0) return;
  wanted_ = true;
  keep_what_is_wanted();
}

void EnvironmentCacheLimit::keep_what_is_wanted() {
  while (wanted_) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;  // the holder of the lock checks the limit here afterwards
    if (wanted_.exchange(false)) keep_below_limit();
  }
}

void EnvironmentCacheLimit::keep_below_limit() {
  auto items = cache_.list();
  std::uint64_t total = 0;
  for (const auto& item : items) total += item.bytes;
  std::sort(items.begin(), items.end(),
            [](const auto& a, const auto& b) { return a.last_used < b.last_used; });
  const auto in_use = names_in_use();
  for (const auto& item : items) {
    if (total <= limit_.count) return;
    if (in_use.count(item.entry.name()) != 0) continue;
    if (remove(item, "least recently used")) total -= item.bytes;
  }
  if (total > limit_.count)
    spdlog::warn(
        "the environments take {}, more than --environments-size {}, but all of them are in use",
        to_string(Bytes{total}), to_string(limit_));
}

void EnvironmentCacheLimit::prune(Instant since) {
  {
    const std::lock_guard guard(mutex_);
    skipped_.clear();
    for (auto& item : cache_.list())
      if (item.last_used < since && !remove(item, kUnused)) skipped_.push_back(std::move(item));
  }
  keep_what_is_wanted();
}

void EnvironmentCacheLimit::prune_skipped() {
  {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;
    std::erase_if(skipped_, [this](const auto& item) {
      return EnvironmentCache::last_used(item.entry) != item.last_used || remove(item, kUnused);
    });
  }
  keep_what_is_wanted();
}

}  // namespace lockstep::agent
