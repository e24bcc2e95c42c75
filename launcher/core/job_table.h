#pragma once
// The jobs in the order of their names, and found by a hash of the name: a job is looked up two
// dozen times in its life, and names that begin alike are slow to compare.

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
  JobTable(JobTable&&) = default;
  JobTable& operator=(JobTable other) {
    std::swap(jobs_, other.jobs_);
    std::swap(by_hash_, other.by_hash_);
    return *this;
  }

  friend bool operator==(const JobTable& a, const JobTable& b) { return a.jobs_ == b.jobs_; }

  const std::map<JobId, Job>& all() const { return jobs_; }
  // null: there is none.
  const Job* find(const JobId& id) const {
    const auto entry = at(id);
    return entry == by_hash_.end() ? nullptr : &entry->second->second;
  }
  Job* find(const JobId& id) {
    const auto entry = at(id);
    return entry == by_hash_.end() ? nullptr : &entry->second->second;
  }
  // The table must not have a job with this name.
  void add(const JobId& id, Job job) {
    const auto added = jobs_.emplace(id, std::move(job)).first;
    by_hash_.emplace(hash_of(id), &*added);
  }
  void remove(const JobId& id) {
    if (const auto entry = at(id); entry != by_hash_.end()) by_hash_.erase(entry);
    jobs_.erase(id);
  }

 private:
  using Jobs = std::map<JobId, Job>;
  using ByHash = std::multimap<std::size_t, typename Jobs::value_type*>;

  static std::size_t hash_of(const JobId& id) { return std::hash<std::string_view>()(id.value); }
  typename ByHash::const_iterator at(const JobId& id) const {
    const std::size_t hash = hash_of(id);
    auto entry = by_hash_.lower_bound(hash);
    while (entry != by_hash_.end() && entry->first == hash && entry->second->first != id) ++entry;
    return entry != by_hash_.end() && entry->first == hash ? entry : by_hash_.end();
  }

  Jobs jobs_;
  ByHash by_hash_;  // entries of jobs_
};

}  // namespace lockstep::launcher
