#pragma once
// The jobs in the order of their names, which are also found by a hash of the name: a job is looked
// up dozens of times in its life, and names with a common beginning are slow to compare. Finding is
// not thread-safe, not even in a const table.

#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "common/base/ids.h"

namespace lockstep::launcher {

template <typename Job>
class JobTable {
 public:
  JobTable() = default;
  JobTable(const JobTable& other) : jobs_(other.jobs_) {
    for (auto& entry : jobs_) by_hash_.emplace(hash_of(entry.first), &entry);
  }
  JobTable(JobTable&& other) noexcept { *this = std::move(other); }
  JobTable& operator=(const JobTable& other) { return *this = JobTable(other); }
  JobTable& operator=(JobTable&& other) noexcept {
    jobs_ = std::move(other.jobs_);
    by_hash_ = std::move(other.by_hash_);
    last_ = other.last_ = nullptr;
    return *this;
  }

  friend bool operator==(const JobTable& a, const JobTable& b) { return a.jobs_ == b.jobs_; }

  const std::map<JobId, Job>& all() const { return jobs_; }
  // null: there is no job with this name
  const Job* find(const JobId& id) const {
    const Entry* entry = look_up(id);
    return entry == nullptr ? nullptr : &entry->second;
  }
  Job* find(const JobId& id) {
    Entry* entry = look_up(id);
    return entry == nullptr ? nullptr : &entry->second;
  }
  // Adds a job. The table must not have a job with this name.
  void add(const JobId& id, Job job) {
    const auto added = jobs_.emplace(id, std::move(job)).first;
    by_hash_.emplace(hash_of(id), &*added);
  }
  void remove(const JobId& id) {
    if (const auto entry = at(id); entry != by_hash_.end()) by_hash_.erase(entry);
    last_ = nullptr;
    jobs_.erase(id);
  }

 private:
  using Jobs = std::map<JobId, Job>;
  using Entry = typename Jobs::value_type;
  using ByHash = std::multimap<std::size_t, Entry*>;

  static std::size_t hash_of(const JobId& id) { return std::hash<std::string_view>()(id.value); }
  typename ByHash::const_iterator at(const JobId& id) const {
    const std::size_t hash = hash_of(id);
    auto entry = by_hash_.lower_bound(hash);
    while (entry != by_hash_.end() && entry->first == hash && entry->second->first != id) ++entry;
    return entry != by_hash_.end() && entry->first == hash ? entry : by_hash_.end();
  }
  Entry* look_up(const JobId& id) const {
    if (last_ != nullptr && last_->first == id) return last_;
    const auto entry = at(id);
    return entry == by_hash_.end() ? nullptr : last_ = entry->second;
  }

  Jobs jobs_;
  ByHash by_hash_;  // entries of jobs_
  // The job found last, because one job is often looked up several times in a row.
  mutable Entry* last_ = nullptr;
};

}  // namespace lockstep::launcher
